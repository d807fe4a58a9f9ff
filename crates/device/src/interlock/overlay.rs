//! Files of overlayfs have a second path: that of the layer that holds them.

use std::path::{Path, PathBuf};

use crate::identity::{Mount, unescape};

/// A mounted overlay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Overlay {
    /// Where its part `root` shows.
    mount_point: PathBuf,
    /// Of a bind mount: the folder of the overlay that it shows; else `/`.
    root: PathBuf,
    /// Upper layer first.
    layers: Vec<PathBuf>,
    /// A layer was given by a relative path, to a folder that is not known: [`Overlay::layers`] may
    /// lack it or have another.
    pub has_relative_layers: bool,
}

impl Overlay {
    /// Of another file system: `None`.
    pub(super) fn new(mount: &Mount) -> Option<Overlay> {
        if mount.fs_type != "overlay" {
            return None;
        }
        let (mut upper, mut lower) = (Vec::new(), Vec::new());
        // The kernel writes a comma within a value as three octal digits.
        for option in mount.options.split(',') {
            let Some((key, value)) = option.split_once('=') else {
                continue;
            };
            let value = unescape(value);
            match key {
                "upperdir" => upper.push(value.replace('\\', "").into()),
                "lowerdir" => lower.extend(layers(&value)),
                // Of fsconfig(2): one layer, as it is.
                "lowerdir+" => lower.push(value.into()),
                _ => {}
            }
        }
        upper.extend(lower);
        let mount_point = PathBuf::from(&mount.mount_point);
        Some(Overlay {
            root: mount.root.clone().into(),
            has_relative_layers: upper.iter().any(|layer: &PathBuf| layer.is_relative()),
            layers: upper.into_iter().filter_map(|layer| absolute(layer, &mount_point)).collect(),
            mount_point,
        })
    }

    /// Other paths to the file at a path: that in a layer of one in the overlay, and the reverse.
    fn other_paths(&self, path: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        if let Ok(inside) = path.strip_prefix(&self.mount_point) {
            let inside = self.root.join(inside);
            let inside = inside.strip_prefix("/").unwrap_or(&inside);
            let mut layers = self.layers.iter().map(|layer| layer.join(inside));
            // Deeper layers are hidden by it.
            found.extend(layers.find(|path| path.is_file()));
        }
        for layer in &self.layers {
            let inside = path.strip_prefix(layer).ok();
            let shown = inside.map(|inside| Path::new("/").join(inside));
            let shown = shown.as_ref().and_then(|path| path.strip_prefix(&self.root).ok());
            found.extend(shown.map(|shown| self.mount_point.join(shown)));
        }
        found.retain(|other| other != path && other.is_file());
        found
    }
}

/// All other paths to a file through overlays, those through several included.
pub(super) fn other_paths(overlays: &[Overlay], path: &Path) -> Vec<PathBuf> {
    let Ok(path) = path.canonicalize() else {
        return Vec::new();
    };
    let mut known = vec![path];
    let mut next = 0;
    while let Some(path) = known.get(next).cloned() {
        next += 1;
        let others = overlays.iter().flat_map(|overlay| overlay.other_paths(&path));
        for other in others {
            if !known.contains(&other) {
                known.push(other);
            }
        }
    }
    known.split_off(1)
}

/// A relative layer counts from the folder in which mount(2) was called: often one above the mount
/// point, as of container engines.
fn absolute(layer: PathBuf, mount_point: &Path) -> Option<PathBuf> {
    if layer.is_absolute() {
        return Some(layer);
    }
    let mut places = mount_point.ancestors().map(|folder| folder.join(&layer));
    places.find_map(|place| place.canonicalize().ok().filter(|place| place.is_dir()))
}

/// At colons that no backslash precedes (fs/overlayfs/params.c).
fn layers(text: &str) -> Vec<PathBuf> {
    let mut parts = vec![String::new()];
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        let part = parts.last_mut().expect("there is always a part");
        match c {
            ':' => parts.push(String::new()),
            '\\' => part.extend(characters.next()),
            c => part.push(c),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.into_iter().map(PathBuf::from).collect()
}

#[cfg(test)]
#[path = "../../tests/unit/interlock/overlay.rs"]
mod tests;
