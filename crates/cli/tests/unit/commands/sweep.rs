use super::array;

#[test]
fn numbers_are_written_as_slurm_takes_them() {
    assert_eq!(array(&[]), "");
    assert_eq!(array(&[7]), "7");
    assert_eq!(array(&[0, 1, 2, 3, 7, 9, 10]), "0-3,7,9-10");
}
