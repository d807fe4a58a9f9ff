pub mod data;
pub mod nvme;
pub mod run_folder;
pub mod text;
pub mod wire;
