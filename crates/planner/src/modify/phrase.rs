//! A change request in parts: what to change, clause by clause, and what must stay.

use crate::lexicon::{has, rx};

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Asked {
    pub changes: Vec<String>,
    pub protected: Vec<String>,
}

const KEEP: &str = r"\b(?:don'?t|do not|never|without)\s+(?:touch\w*|chang\w*|modif\w*|alter\w*|break\w*|mov\w*|edit\w*)|\b(?:leave|keep|lass\w*|behalt\w*|deja\w*|mant[eé]n\w*|laisse\w*|garde\w*)\b.{0,120}?\b(?:as (?:it|they|is)|alone|unchanged|untouched|the same|exactly|wie (?:es|sie|er) (?:ist|sind)|unverändert|so|igual(?:es)?|como (?:está|están|es)|intact\w*|tel(?:le)?s? quel(?:le)?s?|comme (?:il|elle|ça))\b|\b(?:stays?|remains?|must stay|should stay|bleib\w*|queda\w*|reste\w*|permanece\w*)\b|\b(?:nicht (?:anfassen|ändern|verändern|anrühren)|unangetastet|no (?:toques|cambies|modifiques|tocar|cambiar)|ne (?:touche|change|modifie)\w*)\b";

/// "Approved → reply as today": nothing changes there.
const AS_NOW: &str = r"\b(?:as|like) (?:today|now|before|it (?:does|is) (?:now|today))\W*$|\bwie (?:bisher|heute|jetzt|gehabt)\W*$|\bcomo (?:hasta ahora|hoy|ahora|siempre)\W*$|\bcomme (?:aujourd'hui|avant|maintenant)\W*$";

/// Splits into sentences and clauses; quoted text, addresses and `names` are not cut, nor a sentence that `is_one` change.
pub(super) fn read_request(request: &str, names: &[&str], is_one: &dyn Fn(&str) -> bool) -> Asked {
    let mut asked = Asked::default();
    for sentence in sentences(request, names) {
        // What stands before it was said elsewhere: "and at 10:00 instead of 9:00".
        let sentence = rx(r"(?i)^(?:and|und|y|et)\s+")
            .replace(&sentence, "")
            .into_owned();
        if is_one(&sentence) {
            asked.changes.push(sentence);
            continue;
        }
        if has(KEEP, &sentence)
            && !has(
                r"\b(?:only|nur|solo|seulement)\b.{0,40}\b(?:when|if|wenn|si|cuando|quand)\b",
                &sentence,
            )
        {
            let (change, keep) = split_keep(&sentence);
            asked.protected.push(keep);
            if let Some(change) = change {
                asked.changes.extend(clauses(&change, names));
            }
            continue;
        }
        if has(AS_NOW, &sentence) {
            continue;
        }
        asked.changes.extend(clauses(&sentence, names));
    }
    asked
}

/// "Change X, but leave Y as it is": both halves.
fn split_keep(sentence: &str) -> (Option<String>, String) {
    let parts: Vec<&str> = sentence.split(", ").collect();
    for i in 1..parts.len() {
        let head = parts.get(..i).map(|p| p.join(", ")).unwrap_or_default();
        let tail = parts.get(i..).map(|p| p.join(", ")).unwrap_or_default();
        if has(KEEP, &tail) && !has(KEEP, &head) {
            // "Schedule, request and splitting stay": the head is one of the things that stay
            let listed = !rx(STARTS).is_match(&head) && head.split_whitespace().count() < 4;
            if listed {
                continue;
            }
            return (Some(head), tail);
        }
        if has(KEEP, &head)
            && !has(KEEP, &tail)
            && has(r"^(?:but|aber|pero|mais|and|just|only|instead)\b", &tail)
        {
            return (Some(tail), head);
        }
    }
    for word in [" but ", " aber ", " pero ", " mais ", "; "] {
        if let Some((head, tail)) = sentence.split_once(word)
            && has(KEEP, tail)
            && !has(KEEP, head)
        {
            return (Some(head.to_owned()), tail.to_owned());
        }
    }
    (None, sentence.to_owned())
}

fn sentences(text: &str, names: &[&str]) -> Vec<String> {
    // Where a name ends with a mark, no sentence does.
    let marked = names.iter().filter(|n| n.ends_with(['.', '!', '?']));
    let ends: Vec<usize> = marked
        .flat_map(|name| {
            text.match_indices(*name)
                .map(|(at, found)| at + found.len())
        })
        .filter(|end| text.get(*end..).is_some_and(|rest| !rest.trim().is_empty()))
        .collect();
    let mut bytes = 0;
    let mut out = Vec::new();
    let mut current = String::new();
    let mut quote: Option<char> = None;
    let chars: Vec<char> = text.chars().collect();
    for (i, &c) in chars.iter().enumerate() {
        current.push(c);
        bytes += c.len_utf8();
        let before = i
            .checked_sub(1)
            .and_then(|j| chars.get(j))
            .copied()
            .unwrap_or(' ');
        match quote {
            Some(q) if c == q => quote = None,
            None if matches!(c, '"' | '`' | '“' | '«')
                || (c == '\'' && !before.is_alphanumeric()) =>
            {
                quote = Some(match c {
                    '“' => '”',
                    '«' => '»',
                    other => other,
                });
            }
            _ => {}
        }
        let next = chars.get(i + 1).copied().unwrap_or(' ');
        let is_end = matches!(c, '.' | '!' | '?' | '\n')
            && next.is_whitespace()
            && quote.is_none()
            && !ends.contains(&bytes);
        if is_end {
            out.push(std::mem::take(&mut current));
        }
    }
    out.push(current);
    out.into_iter()
        .map(|s| s.trim().trim_end_matches(['.', '!', '?']).trim().to_owned())
        .filter(|s| !s.is_empty())
        .collect()
}

/// Verbs that start a change of its own.
const STARTS: &str = r"(?i)^(?:please |bitte |also |then |additionally |in addition |zusätzlich |außerdem |además |en plus |por favor |s'il te plaît )*(?:change|set|switch|replace|swap|exchange|use|keep|throw|get rid|take|cut|trim|shorten|cap|lift|bump|run|push|publish|translate|summari[sz]e|filter|sort|dedupe|deduplicate|wait|pause|create|upload|forward|schedule|start|connect|ask|mail|ping|drop|extend|shift|hang|attach|lass|kürze?|begrenz|erhöhe?|senke?|reduzier|wirf|schalt|deaktivier|aktivier|verschieb|tauche?|behalt|starte|hänge?|erstell|melde|benachrichtig|warte|filter|leg|gib|mach|führe|aumenta|sube|baja|reduce|limita|renombra|desactiva|activa|crea|publica|notifica|avisa|espera|filtra|haz|dale|deja|ejecuta|pase|augmente|diminue|baisse|réduis|limite|désactive|active|crée|publie|préviens|attends|filtre|donne|exécute|lance|garde|add|give|remove|delete|drop|rename|move|let|make|send|post|write|notify|increase|decrease|raise|lower|reduce|limit|turn|enable|disable|retry|insert|append|log|save|store|after|before|when|if|only|instead|in batches|in stapeln|en lotes|par lots|update|alert|tell|put|skip|run|ändere|änder|setz|ersetz|tausch|füge?|ergänz|entfern|lösch|benenn|nimm|verwend|nutze|schick|sende|schreib|speicher|wenn|nach|vor|cambia|pon|reemplaza|sustituye|añade|agrega|quita|elimina|usa|envía|manda|guarda|si|cuando|después|antes|remplace|ajoute|supprime|enlève|utilise|envoie|écris|enregistre|quand|après|avant|renomme|modifie|mets)\b";

/// Says what something else is to stand in the place of.
const IN_PLACE: &str = r"\b(?:instead of|rather than|in place of|statt|anstatt|anstelle|en lugar de|en vez de|au lieu de|à la place de)\b";

/// When it is to run, and nothing else.
const TIME_ALONE: &str = r"(?i)^(?:(?:every|each|daily|on|jeden?|jede|täglich|am|cada|todos los|chaque|tous les)\b[^,;]{0,30}?\s+)?(?:at|um|a las?|à)\s+\d{1,2}(?:[:.h]\d{2})?\s*(?:am|pm|a\.m\.|p\.m\.|uhr|h|heures?)?$";

/// Speaks of a time itself, or of something new that may have one.
const TIMED_OR_NEW: &str = r"(?i)\d{1,2}[:h]\d{2}|\b(?:at|um|a las?|à)\s+\d|\b(?:every|each|daily|hourly|weekly|monthly|jed\w+|täglich|cada|todos los|chaque|tous les|{weekday})\b|^(?:also|add|insert|append|create|remind|füge?|ergänz\w*|erstell\w*|añade|agrega|crea|ajoute|crée)\b";

/// Clauses of a sentence. "A and B" is cut only where B starts a change of its own.
fn clauses(sentence: &str, names: &[&str]) -> Vec<String> {
    // a condition and its "everything else" belong together
    if has(
        r"\b(?:only|nur|solo|seulement|when|if|wenn|falls|si|cuando|quand)\b.*\b(?:everything else|anything else|all (?:the )?(?:others?|rest)|the rest|otherwise|else|alles andere|sonst|andernfalls|ansonsten|todo lo demás|lo demás|si no|de lo contrario|sinon|tout le reste|les autres)\b",
        sentence,
    ) {
        return vec![sentence.to_owned()];
    }
    let cut = rx(
        r",\s+(?:and then|and|und dann|und|y luego|y|et puis|et|then|dann)\s+|,\s+|\s+(?:and then|and|und|y|et)\s+|;\s+",
    );
    let mut out: Vec<String> = Vec::new();
    let mut rest_at = 0;
    for found in cut.find_iter(sentence) {
        let tail = sentence.get(found.end()..).unwrap_or("");
        let head = sentence.get(rest_at..found.start()).unwrap_or("");
        let quoted = head.matches('\'').count() % 2 == 1 && head.contains(" '")
            || head.matches('"').count() % 2 == 1;
        // "after the agent has answered, write …" is one clause
        let opening = has(
            r"(?i)^(?:(?:but|aber|pero|mais)\s+)?(?:(?:only|just|nur|solo|sólo|seulement|uniquement)\s+)?(?:after|before|when|whenever|each time|every time|as soon as|if|once|jedes mal|immer wenn|cada vez|siempre que|en cuanto|chaque fois|dès|nach|bevor|wenn|sobald|después|antes|cuando|si|après|avant|quand)\b",
            head.rsplit("; ").next().unwrap_or(head),
        ) && found.as_str().starts_with(',')
            && !has(r"\b(?:and|und|y|et)\b", found.as_str());
        // "…; if it still fails, tell #ops" goes on about the same step
        let goes_on = has(
            r"^(?:and |und |y |et )?(?:if|when|wenn|falls|si|cuando|quand)\s+(?:it|they|that|es|er|sie|das|ça|cela)?\s*(?:still|then|again|auch dann|immer noch|trotzdem|aún|todavía|encore|toujours|all|alle)\b",
            tail,
        );
        // "send it only, if …" is one clause
        let only = has(
            r"(?i)\b(?:only|just|nur|solo|sólo|seulement|uniquement)\b[^,;]{0,40}$",
            head,
        ) && has(
            r"(?i)^(?:when|if|wenn|falls|si|cuando|quand|lorsque)\b",
            tail,
        );
        // "…, after Mail report" says where
        let place = has(
            r"(?i)^(?:(?:right|directly|direkt|just)\s+)?(?:after|behind|before|nach|hinter|vor|después de|tras|antes de|après|avant)\s",
            tail,
        ) && names.iter().any(|name| {
            let named = tail.to_lowercase().ends_with(&name.to_lowercase());
            named && tail.split_whitespace().count() <= name.split_whitespace().count() + 2
        });
        // somebody or something else is told what it should do
        let own_subject = has(
            r"^\S+(?:\s+\S+){0,3}?\s+(?:should|must|shall|gets?|has to|have to|soll(?:en)?|muss|müssen|bekommt|bekommen|erhält|debe|deben|doit|doivent)\b",
            tail,
        ) && !has(r"^(?:which|that|who|it|they|der|die|das|que|qui)\b", tail);
        // "to #qa instead of #dev and at 10:00 instead of 9:00": each says what is to be in the place of what
        let next = cut
            .find(tail)
            .map_or(tail, |end| tail.get(..end.start()).unwrap_or(tail));
        let exchanges = has(IN_PLACE, head) && has(IN_PLACE, next);
        // "post to #qa, at 10:00": what it does, and when
        let time = has(TIME_ALONE, next) && !has(TIMED_OR_NEW, head);
        // "between Load sales and Write numbers": the name of a node is no order
        let name = names
            .iter()
            .any(|name| name.contains(' ') && tail.starts_with(name));
        if quoted
            || name
            || opening
            || goes_on
            || only
            || place
            || !(rx(STARTS).is_match(tail) || own_subject || exchanges || time)
        {
            continue;
        }
        out.push(head.trim().to_owned());
        rest_at = found.end();
    }
    out.push(sentence.get(rest_at..).unwrap_or("").trim().to_owned());
    out.retain(|c| !c.is_empty());
    out
}
