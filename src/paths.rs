//! Where things live: XDG folders, the workspace, the model.
