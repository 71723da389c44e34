//! What is not built as asked: secrets in the workflow, wiping without a way back, sensitive data without a lock, harm to
//! people. A secret is cut out of the request before anything else reads it; nothing here repeats it.

use crate::lexicon::{self, has, rx};
use crate::plan::{Does, Plan, Refusal, Step};
use agentctl_base::secrets::{MARK, SECRET_WORD, spoken};
use std::ops::Range;

/// The secrets of a request with the words that lead to them; marks of hidden ones count.
fn secrets(request: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = spoken(request).into_iter().map(|s| s.whole).collect();
    for (start, _) in request.match_indices(MARK) {
        let end = request
            .get(start..)
            .and_then(|rest| rest.find(']'))
            .map_or(request.len(), |at| start + at + 1);
        if !found.iter().any(|r| r.contains(&start)) {
            found.push(start..end);
        }
    }
    found.sort_by_key(|r| r.start);
    found
}

/// Why the request is refused as it stands.
pub fn refusal(request: &str, language: &str) -> Option<Refusal> {
    let topic = if !secrets(request).is_empty() || wants_hard_coding(request) {
        "secret"
    } else if abuses(request) {
        "abuse"
    } else if wipes(request) {
        "wipe"
    } else if exposes(request) {
        "exposed"
    } else {
        return None;
    };
    let (reason, alternatives) =
        lexicon::refusal(topic, language).or_else(|| lexicon::refusal(topic, "en"))?;
    Some(Refusal {
        reason: reason.to_owned(),
        alternatives: alternatives.into_iter().map(str::to_owned).collect(),
    })
}

/// The request without its secrets and without the wish to write them down.
pub fn without_secrets(request: &str, refusal: Option<&Refusal>) -> String {
    let mut out = request.to_owned();
    for range in secrets(request).into_iter().rev() {
        out.replace_range(range, "");
    }
    if refusal.is_some() {
        out = rx(r"[^.!?\n]*\b(?:(?:put|write|paste|store|hard-?code|embed|schreib\w*|pon|escribe|mets|écris)\b[^.!?\n]*\b{secret}|i don't want to deal with credentials|no credentials|keine credentials|sin credenciales|sans credentials)\b[^.!?\n]*[.!?]?".replace("{secret}", SECRET_WORD).as_str())
            .replace_all(&out, "")
            .into_owned();
    }
    out
}

fn wants_hard_coding(request: &str) -> bool {
    has(
        &format!(
            r"\b(?:hard-?cod\w*|put|paste|write|embed|schreib\w*|pon\w*|escribe|mets|colle)\b[^.]{{0,40}}\b{SECRET_WORD}\b[^.]{{0,30}}\b(?:into|in|directly|straight|direkt|directamente|directement|dans|en)\b[^.]{{0,30}}\b(?:node|workflow|url|code|header|body|nodo|nœud)\b"
        ),
        request,
    ) && !has(
        r"\bcredential store\b|\bas a credential\b|\bin credentials\b",
        request,
    )
}

fn wipes(request: &str) -> bool {
    let act = r"(?:throw (?:out|away)|tear (?:out|down)|trash|scrap|nuke|ditch|get rid of|take out|kick out|zap|wirf|schmei(?:ß|ss)\w*|räum\w*|weg mit|raus mit|tira|tirar|saca|descarta\w*|limpia\w*|jette\w*|enlève\w*|enlever|retire\w*|balance|vire|delete|remove|wipe|erase|clear|empty|drop|truncate|destroy|purge|get rid of|lösch\w*|entfern\w*|leer\w*|vernichte|borra\w*|elimina\w*|vacía\w*|supprim\w*|efface\w*|vide[rz]?)";
    let all = r"(?:every(?:thing)?|all(?: of)?|the (?:whole|entire)|alle\w*|alles|den gesamten|die gesamte|sämtliche|todos?|todas?|toutes?|tous|tout)";
    let workflow = has(
        &format!(
            r"\b{act}\b[^.]{{0,30}}\b{all}\b[^.]{{0,30}}\b(?:nodes?|workflows?|nodos?|nœuds?|flujos?|automations?)\b|\bwipe\b[^.]{{0,20}}\bworkflow|\bworkflows?\b[^.]{{0,30}}\b(?:komplett |vollständig |completely )?(?:leeren|wipe|empty it)\b"
        ),
        request,
    );
    let bounded = has(
        r"\b(?:older than|newer than|whose|where|with (?:the )?(?:status|label|tag)|from the folder|in the (?:trash|spam)|expired|inactive|that (?:are|have|were)|which|unless|except|älter als|die älter|con más de|más antigu\w+|plus (?:vieux|ancien\w*)|labelled|duplicate\w*|temp\w*|test)\b",
        request,
    );
    let careless = has(
        r"\b(?:no (?:questions?|backup|confirmation|undo)|without (?:a )?(?:backup|asking|confirmation)|don't ask|ohne (?:backup|sicherung|nachfrage|rückfrage)|keine (?:rückfragen|fragen|sicherung)|sin (?:copia|preguntar|confirmación|respaldo)|sans (?:sauvegarde|demander|confirmation)|production|produktiv\w*|producción)\b",
        request,
    );
    let data = has(
        &format!(
            r"\b{act}\b[^.]{{0,20}}\b{all}\b[^.]{{0,40}}\b(?:data|tables?|databases?|customers?|contacts?|records?|files?|backups?|users?|repositor\w+|buckets?|daten|tabellen?|datenbank|kunden|kontakte|dateien|datos|tablas?|clientes|contactos|archivos|données|bases?|fichiers)\b"
        ),
        request,
    );
    workflow && !bounded || data && !bounded && careless
}

fn exposes(request: &str) -> bool {
    let open = has(
        r"\b(?:no|without(?: any)?|disable|turn off|remove|skip|ohne|sin|sans|keine?|deaktivier\w*|desactiva\w*|désactive\w*)\s+(?:the\s+|all\s+|any\s+|la\s+|l')?(?:auth\w*|log-?in|password|security|protection|api key|access control|anmeldung|autenticación|authentification|passwort|schutz)\b|\b(?:publicly|open to (?:everyone|anyone|the world)|öffentlich zugänglich|accessible to (?:anyone|everyone))\b",
        request,
    );
    let sensitive = has(
        r"\b(?:customers?'? (?:data|records|list)|all (?:our )?(?:customers|users|employees|patients)|personal (?:data|information)|salar\w+|payroll|gehalt\w*|gehälter|patient\w*|health|medical|credit cards?|card numbers?|ssn|social security|passports?|passwords?|bank (?:accounts?|details)|iban|kundendaten|personaldaten|personenbezogen\w*|datos (?:personales|de clientes)|nóminas?|salarios|données (?:personnelles|clients|de santé)|salaires)\b",
        request,
    );
    open && sensitive
}

fn abuses(request: &str) -> bool {
    has(
        r"\b(?:phish\w*|steal\w*|stolen|spam (?:people|them|everyone|users|campaign|mails?)|mass[- ]?spam|brute[- ]?force|ddos|denial of service|malware|ransomware|keylog\w*|fake (?:reviews?|accounts?|profiles?|ratings)|impersonat\w+|credential stuffing|crack (?:the )?passwords?|harvest (?:e-?mails?|passwords?|credentials)|spy on|stalk\w*|dox+|doxing|track (?:my|his|her) (?:wife|husband|girlfriend|boyfriend|ex)|bypass (?:the )?(?:captcha|2fa|mfa|paywall|login|rate limits?)|get around (?:the )?(?:captcha|2fa|ban)|without (?:their|his|her) (?:knowledge|consent|permission)|ohne (?:deren|ihr|sein) wissen|gefälschte bewertungen|falsche bewertungen|sin su (?:consentimiento|permiso)|reseñas falsas|à leur insu|sans leur consentement|faux avis|faux comptes|buy(?:ing)? (?:e-?mail )?followers|scrape[ds]? (?:the )?(?:e-?mail addresses|emails|personal data|private profiles|phone numbers))\b",
        request,
    ) && !has(
        r"\b(?:detect|report|block|flag|filter|warn|alert|protect|prevent|spam folder|stolen (?:device|card) report|simulation|training|erkenn\w*|melde\w*|detecta\w*|bloque\w*)\b",
        request,
    )
}

/// The safe variant of a plan whose request carried a secret: every call logs in with a credential.
pub fn with_credentials(plan: &mut Plan, request: &str) {
    let kind = if has(
        r"\b(?:user|username|login|log in|anmeld\w*|benutzer|usuario|utilisateur)\b",
        request,
    ) {
        "basic auth"
    } else if has(r"\bbearer\b|\btoken\b", request) {
        "bearer"
    } else {
        "header auth"
    };
    fn walk(steps: &mut [Step], kind: &str) {
        for s in steps {
            match &mut s.does {
                Does::Http { auth, .. } => {
                    *auth = Some(auth.clone().unwrap_or_else(|| kind.to_owned()))
                }
                Does::If {
                    then, otherwise, ..
                } => {
                    walk(then, kind);
                    walk(otherwise, kind);
                }
                Does::Loop { body, after, .. } => {
                    walk(body, kind);
                    walk(after, kind);
                }
                _ => {}
            }
        }
    }
    walk(&mut plan.steps, kind);
}

/// True when this refusal is about a secret: then the safe variant is worth delivering.
pub fn is_about_secret(refusal: &Refusal) -> bool {
    ["en", "de", "es", "fr"]
        .iter()
        .any(|l| lexicon::refusal("secret", l).is_some_and(|(r, _)| r == refusal.reason))
}

#[cfg(test)]
#[path = "refuse_tests.rs"]
mod refuse_tests;
