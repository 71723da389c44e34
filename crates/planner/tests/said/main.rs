//! Requests as people say them: what was not understood is told, and the same request in other words gives the same graph.

mod at_hand;
mod first_words;
mod honest;
mod meant;
mod reworded;
mod same;
mod sound;
mod states;
