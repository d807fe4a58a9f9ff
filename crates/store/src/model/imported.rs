use serde::{Deserialize, Serialize};

/// Origin of a run that another program measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportRecord {
    /// The programs with their versions, `fio 3.33`, each once.
    pub tools: Vec<String>,
    /// The files, in the order in which they were read.
    pub files: Vec<SourceFile>,
    /// State of the drive as the importer was told: `empty`, `filled`, `steady` or `unknown`.
    pub state: String,
}

/// A file whose figures were imported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Path below the folder that was imported, or the file's name.
    pub name: String,
    /// SHA-256 of its bytes, in lower-case hex.
    pub sha256: String,
    /// Length.
    pub bytes: u64,
    /// What it is: `fio JSON`, `fio text`.
    pub format: String,
    /// The program that wrote it, with its version where the file has it.
    pub tool: String,
}
