//! Parts of lists and texts that are empty where the place lies behind the end.

/// The elements from a place on.
pub fn from<T>(list: &[T], at: usize) -> &[T] {
    list.get(at..).unwrap_or(&[])
}

/// The elements before a place.
pub fn before<T>(list: &[T], at: usize) -> &[T] {
    list.get(..at).unwrap_or(list)
}

/// The elements between two places.
pub fn between<T>(list: &[T], from: usize, to: usize) -> &[T] {
    list.get(from..to).unwrap_or(&[])
}

/// The part of a text between two places (bytes); empty where they are none of its characters' borders.
pub fn text(whole: &str, from: usize, to: usize) -> &str {
    whole.get(from..to).unwrap_or("")
}

/// The part of a text from a place (bytes) on.
pub fn rest(whole: &str, from: usize) -> &str {
    whole.get(from..).unwrap_or("")
}
