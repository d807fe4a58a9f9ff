//! The pattern that streams are proved with.
