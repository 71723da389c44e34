use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Everything one step or more behind `from`, never entering `without`.
fn behind(edges: &[(usize, usize)], from: &[usize], without: Option<usize>) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = from.to_vec();
    while let Some(at) = open.pop() {
        for &(_, to) in edges
            .iter()
            .filter(|(f, t)| *f == at && Some(*t) != without)
        {
            if reached.insert(to) {
                open.push(to);
            }
        }
    }
    reached
}

proptest! {
    #[test]
    fn answers_are_those_of_a_plain_search(
        edges in proptest::collection::vec((0..12_usize, 0..12_usize), 0..30),
        starts in proptest::collection::vec(0..12_usize, 0..4),
    ) {
        let after = Neighbours::of(12, edges.iter().map(|(f, t)| (Some(*f), Some(*t))));
        let reach = Reach::of(&after, 12, &starts);
        let pairs: Vec<(usize, usize)> = (0..12).flat_map(|a| (0..12).map(move |b| (a, b))).collect();
        let leads = reach.leads(&after, &pairs);
        let run: Vec<BTreeSet<usize>> = starts
            .iter()
            .map(|s| behind(&edges, &[*s], None).into_iter().chain([*s]).collect())
            .collect();
        for (&(a, b), leads) in pairs.iter().zip(leads) {
            prop_assert_eq!(leads, behind(&edges, &[a], None).contains(&b), "{} leads to {}", a, b);
            let circle = behind(&edges, &[a], None).contains(&b) && behind(&edges, &[b], None).contains(&a);
            prop_assert_eq!(reach.same_circle(a, b), circle);
            let together = run.iter().any(|r| r.contains(&a) && r.contains(&b));
            prop_assert_eq!(reach.never_together(a, b), !together && !starts.is_empty());
            let runs = |n| run.iter().any(|r| r.contains(&n));
            let open: Vec<usize> = starts.iter().copied().filter(|s| *s != a).collect();
            let round = behind(&edges, &open, Some(a)).contains(&b) || open.contains(&b);
            prop_assert_eq!(reach.only_through(a, b), runs(a) && runs(b) && (a == b || !round), "{} before {}", a, b);
        }
    }
}

#[test]
fn a_long_chain_is_no_deep_recursion() {
    let count = 50_000;
    let edges = (1..count).map(|n| (Some(n - 1), Some(n)));
    let after = Neighbours::of(count, edges);
    let reach = Reach::of(&after, count, &[0]);
    let pairs: Vec<(usize, usize)> = (100..count).map(|n| (n / 2, n)).take(2_000).collect();
    assert!(reach.leads(&after, &pairs).into_iter().all(|yes| yes));
    assert!(reach.only_through(3, count - 1));
    assert!(!reach.only_through(count - 1, 3));
}
