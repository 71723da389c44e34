//! Requests that would lose the workflow.

use crate::lexicon::has;
use crate::plan::Refusal;

/// A request to remove all of it.
pub(super) fn wipe(request: &str, language: &str) -> Option<Refusal> {
    let remove = r"(?:throw (?:out|away)|tear (?:out|down)|bin|trash|scrap|nuke|ditch|get rid of|take out|kick out|zap|start over|wirf|schmei(?:ß|ss)\w*|hau|räum\w*|weg mit|raus mit|tira|tirar|saca|descarta\w*|limpia\w*|jette\w*|enlève\w*|enlever|retire\w*|balance|vire|remove|delete|drop|wipe|clear|erase|purge|strip|get rid of|lösch\w*|loesch\w*|entfern\w*|leer\w*|elimin\w*|borr\w*|vac[ií]\w*|quit\w*|supprim\w*|vid\w*|efface\w*)";
    let all = r"(?:every(?:thing)?|all|each|whole|entire|complete(?:ly)?|alle[sn]?|sämtliche|ganze[nrs]?|komplett\w*|tod[oa]s?|toute?s?|tous|enti[eè]r\w*)";
    let things = r"(?:nodes?|steps?|workflow|canvas|everything|it|of it|knoten|schritte?|alles|nodos?|pasos?|flujo|todo|n[œo]e?uds?|étapes?|tout)";
    let patterns = [
        format!(r"\b{remove}\b(?:\W+\w+){{0,4}}?\W+{all}\b(?:\W+\w+){{0,3}}?\W+{things}\b"),
        format!(r"\b{remove}\s+(?:everything|alles|todo|tout)\b"),
        format!(r"\b{remove}\s+(?:the|this|my|our)\s+(?:whole|entire|complete)?\s*workflow\b"),
        r"\b(?:want|make|leave|machen?|mach|deja\w*|rends?|laisse\w*)\b(?:\W+\w+){0,3}?\W+(?:empty|blank|leer|vac[ií]o|vide)\b".to_owned(),
        r"\b(?:blank|empty|leere[rnms]?|vac[ií]o|vide)\s+(?:workflow|canvas|flow|flujo)\b|\b(?:workflow|flujo|flow)\s+(?:vac[ií]o|vide|leer|blank|empty)\b".to_owned(),
        format!(r"\b{all}\b(?:\W+\w+){{0,3}}?\W+(?:nodes?|steps?|knoten|schritte|nodos|pasos|étapes)\b(?:\W+\w+){{0,3}}?\W+{remove}\b"),
    ];
    if !patterns.iter().any(|p| has(p, request)) {
        return None;
    }
    // "remove all Slack steps" names what goes
    if has(
        r"\b(?:all|every|alle)\s+(?:the\s+)?(?:slack|gmail|mail|e-mail|telegram|disabled|unused|empty|duplicate|sticky)\b",
        request,
    ) {
        return None;
    }
    let (reason, alternatives) = match language {
        "de" => (
            "Das würde den ganzen Workflow unwiderruflich leeren: alle Knoten zu entfernen und zu speichern lässt sich in der Produktion nicht rückgängig machen. Bitte erst bestätigen und ein Backup haben.",
            [
                "den Workflow deaktivieren",
                "den Workflow archivieren",
                "eine Kopie exportieren und dann mit einem leeren Workflow neu beginnen",
            ],
        ),
        "es" => (
            "Eso vaciaría todo el flujo: eliminar todos los nodos y guardar no se puede deshacer en producción. Primero hace falta confirmar y tener una copia (backup).",
            [
                "desactivar el flujo",
                "archivar el flujo",
                "exportar una copia y empezar con un flujo vacío",
            ],
        ),
        "fr" => (
            "Cela viderait tout le workflow : supprimer tous les nœuds et enregistrer est irréversible en production. Il faut d'abord confirmer et avoir une sauvegarde (backup).",
            [
                "désactiver le workflow",
                "archiver le workflow",
                "exporter une copie et repartir d'un workflow vide",
            ],
        ),
        _ => (
            "This would empty the whole workflow: removing every node and saving it cannot be undone in production. It needs a confirmation and a backup first.",
            [
                "deactivate the workflow",
                "archive the workflow",
                "export a copy, then start from a new empty workflow",
            ],
        ),
    };
    Some(Refusal {
        reason: reason.to_owned(),
        alternatives: alternatives.iter().map(|a| (*a).to_owned()).collect(),
    })
}
