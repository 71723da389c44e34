//! Posts through Facebook's graph: a page's feed, and Instagram, whose posts are made in two calls. The catalog knows the node as a
//! plain call without operations, so what makes it a post is told here.

use super::super::plan::{Arg, Role};
use super::draft::{At, Draft};
use super::expr::expression;
use super::message;
use super::service::Call;
use super::words::fold;
use serde_json::{Map, Value, json};

/// The node's name among n8n's.
pub(super) const GRAPH: &str = "facebookGraphApi";
/// The name by which to-dos find the node.
const NODE: &str = "Facebook Graph API";
/// A post of Instagram is a picture with words.
const PICTURE: &[&str] = &["image url", "picture url", "photo url", "image", "picture"];

/// Whether a call is a post to Instagram.
fn is_instagram(call: &Call<'_>) -> bool {
    call.short == GRAPH && fold(call.said).contains("instagram")
}

impl Draft<'_> {
    /// What a page posts, or what Instagram is to publish: whose it is, and a picture that nobody named, stay for the user.
    pub(super) fn graph_before(
        &mut self,
        at: &At,
        call: &Call<'_>,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) {
        self.announce(at, args);
        let said = message::take(args, &Role::Text);
        let text = match said.map(|arg| self.value(at, &arg.value)) {
            Some(text) => text,
            None => {
                self.gap(call.order.trim());
                self.todo("value", NODE, "write the message");
                json!("<message>")
            }
        };
        let (account, edge, name) = match is_instagram(call) {
            true => ("<id of the Instagram account>", "media", "caption"),
            false => ("<id of the Facebook page>", "feed", "message"),
        };
        let mut sent = vec![json!({"name": name, "value": text})];
        match message::take(args, &Role::Url).map(|arg| self.value(at, &arg.value)) {
            Some(link) if !is_instagram(call) => sent.push(json!({"name": "link", "value": link})),
            picture if is_instagram(call) => {
                sent.push(json!({"name": "image_url", "value": self.picture(at, picture)}));
            }
            _ => {}
        }
        self.todo(
            "value",
            NODE,
            format!("set the {}", account.trim_matches(['<', '>'])),
        );
        for (key, value) in [
            ("httpRequestMethod", json!("POST")),
            ("node", json!(account)),
            ("edge", json!(edge)),
            ("options", json!({"queryParameters": {"parameter": sent}})),
        ] {
            params.insert(key.to_owned(), value);
        }
    }

    /// The address of the picture that is posted: the one that was said, or that the item at hand has.
    fn picture(&mut self, at: &At, said: Option<Value>) -> Value {
        let held = || PICTURE.iter().find_map(|name| self.has_field(at, name));
        if let Some(known) = said.or_else(|| held().map(|code| expression(&code))) {
            return known;
        }
        self.todo(
            "value",
            NODE,
            "set the address of the picture: Instagram takes no post without one",
        );
        json!("<address of the picture>")
    }

    /// What was made for Instagram appears once it is published; gives the node that does it.
    pub(super) fn graph_after(&mut self, at: &At, call: &Call<'_>, made: &str) -> Option<String> {
        let first = self.workflow.node_by_name(made)?.parameters()?;
        let account = first.get("node").cloned()?;
        let version = first.get("graphApiVersion").cloned()?;
        let posts = first.get("edge") == Some(&json!("media"));
        if !is_instagram(call) || !posts || at.tool.is_some() {
            return None;
        }
        let made_id = json!({"name": "creation_id", "value": "={{ $json.id }}"});
        let Value::Object(params) = json!({
            "httpRequestMethod": "POST",
            "graphApiVersion": version,
            "node": account,
            "edge": "media_publish",
            "options": {"queryParameters": {"parameter": [made_id]}},
        }) else {
            return None;
        };
        let behind = at.from(made, 0);
        let wish = "Facebook Graph API: Publish";
        let published = self.node(&behind, wish, call.node_type, params);
        self.todo("value", &published, "set the id of the Instagram account");
        Some(published)
    }
}
