//! About text: display width, wrapping, folding, and making hostile text safe to show.
