//! Work that takes time, with progress and cancel. Both faces call these functions; only this room starts threads.
