//! Settings: defaults in assets, the user's file, the workspace's file; unknown keys are errors.
