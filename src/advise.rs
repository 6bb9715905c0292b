//! From evidence to layer by transparent rules: gates, headline, refusals. Pure; rules are data.
