use super::*;
use crate::config::CONFIGURATIONS;

/// Every model that was built starts, and runs with all inputs zero.
#[test]
fn built_models_start() {
    for configuration in CONFIGURATIONS {
        let mut model = match CoreModel::new(&configuration, 1) {
            Ok(model) => model,
            Err(error) => {
                let reason = error.skip_reason().expect("the model is built or cannot be");
                println!("skipped: {reason}");
                continue;
            }
        };
        assert_eq!(model.configuration().name, configuration.name);
        for _ in 0..100 {
            model.step(&Inputs::ZERO).expect("no assertion fails");
        }
    }
}
