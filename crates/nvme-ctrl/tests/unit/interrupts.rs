use super::*;

#[test]
fn vector_sets_contain_the_inserted_vectors() {
    let mut set = VectorSet::default();
    assert!(set.is_empty());
    for vector in [255, 0, 64, 63, 64, 256, 9999] {
        set.insert(vector);
    }
    assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 255]);
    assert!(set.contains(64) && !set.contains(65) && !set.contains(9999));
}

#[test]
fn completions_are_aggregated_up_to_threshold_or_time() {
    let setting = CoalescingSetting { time_100us: 2, threshold: 2 };
    let mut interrupts = Interrupts::new(4, setting);
    let taken = |interrupts: &mut Interrupts| interrupts.take().iter().collect::<Vec<_>>();
    interrupts.on_completion(0, 1, true);
    assert_eq!(taken(&mut interrupts), [0], "admin at once");
    interrupts.on_completion(1, 1_000, false);
    interrupts.on_completion(1, 2_000, false);
    interrupts.on_completion(2, 5_000, false);
    assert_eq!((taken(&mut interrupts), interrupts.next_ns), (vec![], 201_000));
    interrupts.on_completion(1, 3_000, false);
    assert_eq!(taken(&mut interrupts), [1], "the third");
    interrupts.expire(204_999);
    assert_eq!((taken(&mut interrupts), interrupts.next_ns), (vec![], 205_000));
    interrupts.expire(205_000);
    assert_eq!((taken(&mut interrupts), interrupts.next_ns), (vec![2], u64::MAX));
    interrupts.disable_coalescing(3, true);
    interrupts.on_completion(3, 300_000, false);
    assert_eq!(taken(&mut interrupts), [3]);
    interrupts.on_completion(1, 400_000, false);
    interrupts.set(CoalescingSetting { time_100us: 0, threshold: 2 });
    assert_eq!(taken(&mut interrupts), [1], "switched off");
    assert_eq!(
        (interrupts.is_coalescing_disabled(3), interrupts.is_coalescing_disabled(4)),
        (Some(true), None)
    );
}
