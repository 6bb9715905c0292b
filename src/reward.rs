//! Four-field rewards, relative signal inside a group, graders and the hack suite. Pure.
