//! Files: to and from formats, archives, disk, and uploads. Owns the binary field that a file lies in.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Role, Step, Val, Verb};
use super::data::{Origin, Spelling};
use super::draft::{At, Draft};
use super::message::take;
use super::place::object;
use super::service::{Call, short_of};
use super::words::{self, fold};

const TO_FILE: &str = "n8n-nodes-base.convertToFile";
const FROM_FILE: &str = "n8n-nodes-base.extractFromFile";
const COMPRESSION: &str = "n8n-nodes-base.compression";
const DISK: &str = "n8n-nodes-base.readWriteFile";
const STORES: &[&str] = &[
    "googleDrive",
    "dropbox",
    "microsoftOneDrive",
    "nextCloud",
    "box",
    "awsS3",
    "s3",
    "ftp",
    "googleCloudStorage",
    "azureStorage",
    "microsoftSharePoint",
];

fn archive(format: &str) -> bool {
    matches!(
        format,
        "zip" | "gzip" | "gz" | "unzip" | "compress" | "decompress" | "tar" | "archive"
    )
}

impl Draft<'_> {
    /// A mail's attachments become items of their own before something is done with a file.
    pub(super) fn prepare_files(&mut self, call: &Call<'_>, args: &[Arg], at: At) -> At {
        if let Some(fields) = self.needs_flat_fields(&at, call, args) {
            return self.flatten(&at, &fields);
        }
        let uploads = STORES.contains(&call.short)
            && !matches!(
                call.verb,
                Verb::Get
                    | Verb::GetMany
                    | Verb::Search
                    | Verb::Download
                    | Verb::Delete
                    | Verb::Move
                    | Verb::Remove
            );
        let each_file = matches!(call.verb, Verb::Move | Verb::Delete | Verb::Remove)
            && STORES.contains(&call.short);
        if each_file && at.tool.is_none() {
            return self.back_to_files(at);
        }
        if uploads && at.binary == "attachment_0" {
            return self.one_file_each(at);
        }
        if !at.file && at.tool.is_none() && !at.is_dead() {
            let attaches = super::message::is_mail(call.short)
                && args.iter().any(|a| a.role == Role::Attachment);
            if (uploads
                && call.verb != Verb::Append
                && !fold(call.object).contains("folder")
                && at.json.is_some())
                || attaches
            {
                let step = Step {
                    id: format!("file for {}", call.said),
                    said: String::new(),
                    does: super::super::plan::Does::Nothing,
                    name: None,
                };
                let fetched = self.fetched(&step, at.clone());
                if fetched.file {
                    return fetched;
                }
                return self.make_file(call, args, at);
            }
        }
        at
    }

    /// Rows or a text become the file that is uploaded or attached.
    fn make_file(&mut self, call: &Call<'_>, args: &[Arg], at: At) -> At {
        let name = args
            .iter()
            .find(|a| matches!(a.role, Role::FileName | Role::Attachment))
            .map(|a| a.value.clone());
        let text = name
            .as_ref()
            .map(|v| self.inline(&at, v))
            .unwrap_or_default();
        let said = fold(&format!("{text} {}", call.said));
        let format = ["csv", "xlsx", "json", "html", "txt", "md", "ics", "ods"]
            .into_iter()
            .find(|f| {
                said.contains(&format!(".{f}"))
                    || said.split(|c: char| !c.is_alphanumeric()).any(|w| w == *f)
            })
            .unwrap_or(if said.contains("excel") {
                "xlsx"
            } else if self.model_text(&at).is_some() && at.list.as_deref() != Some("data") {
                "txt"
            } else if said.contains("json") || call.verb == Verb::Set {
                "json"
            } else {
                "csv"
            });
        let file = Step {
            id: format!("file of {}", call.said),
            said: String::new(),
            does: super::super::plan::Does::Nothing,
            name: None,
        };
        let name = name.filter(|_| text.contains('.'));
        self.to_file_step(&file, format, name.as_ref(), at)
    }

    /// A file that is only named (a trigger or a list says that it is there) is downloaded before it is read.
    pub(super) fn fetched(&mut self, step: &Step, at: At) -> At {
        if at.file || at.tool.is_some() || at.binary == "attachment_0" {
            return at;
        }
        let short = at
            .json
            .and_then(|i| self.origins.get(i))
            .and_then(|o| self.workflow.node_by_name(&o.node))
            .filter(|n| {
                // What was written there before holds nothing new.
                let operation = n.parameters().and_then(|p| p.get("operation")?.as_str());
                !matches!(
                    operation,
                    Some("upload" | "create" | "copy" | "move" | "rename")
                )
            })
            .map(|n| {
                short_of(n.node_type())
                    .trim_end_matches("Trigger")
                    .to_owned()
            })
            .filter(|s| STORES.contains(&s.as_str()));
        let Some(short) = short else {
            return at;
        };
        let get = Step {
            id: format!("{} file", step.id),
            said: "download the file".to_owned(),
            does: super::super::plan::Does::Service {
                service: super::super::plan::Service {
                    said: short.clone(),
                    node_types: vec![format!("n8n-nodes-base.{short}")],
                },
                verb: Verb::Download,
                object: Some("file".to_owned()),
                args: Vec::new(),
                once: false,
            },
            name: None,
        };
        self.step(&get, at)
    }

    /// A model reads what stands in a file: one that is only named is downloaded and opened first.
    pub(super) fn readable(&mut self, step: &Step, at: At) -> At {
        let named = self.fetched(step, at.clone());
        if !named.file || at.file {
            return at;
        }
        let told = |n: &agentctl_n8n::workflow::Node| fold(n.name());
        let said: Vec<String> = self.workflow.nodes.iter().map(told).collect();
        let format = ["csv", "xlsx", "json", "txt", "html", "xml"]
            .into_iter()
            .find(|f| said.iter().any(|name| name.split(' ').any(|w| w == *f)));
        let open = Step {
            id: format!("{} opened", step.id),
            said: String::new(),
            does: super::super::plan::Does::Nothing,
            name: None,
        };
        self.from_file_step(&open, format.unwrap_or("pdf"), &[], named)
    }

    /// "Fetch the zip files from the folder": list them, take those meant, download each.
    pub(super) fn fetch_files(
        &mut self,
        step: &Step,
        call: &Call<'_>,
        args: &[Arg],
        at: &At,
    ) -> Option<At> {
        if !STORES.contains(&call.short)
            || !matches!(call.verb, Verb::Get | Verb::Download)
            || at.tool.is_some()
        {
            return None;
        }
        let known = at.seen.iter().any(|i| {
            self.origins.get(*i).is_some_and(|o| {
                !o.closed
                    && o.fields.iter().any(|(said, _)| {
                        said.starts_with("path")
                            || said.contains("file id")
                            || said.contains("key|file name")
                    })
            })
        });
        if known
            || args
                .iter()
                .any(|a| matches!(a.role, Role::Id | Role::Url | Role::FileName))
        {
            return None;
        }
        let place = args
            .iter()
            .find(|a| matches!(a.role, Role::Path | Role::Container | Role::Part))?;
        let path = self.inline(at, &place.value);
        let last = path.rsplit('/').next().unwrap_or("").to_owned();
        let glob = last.contains('*');
        if last.contains('.') && !glob && path.contains('/') {
            return None;
        }
        let super::super::plan::Does::Service {
            service, object, ..
        } = &step.does
        else {
            return None;
        };
        let mut listing = args.to_vec();
        if glob {
            for arg in listing.iter_mut().filter(|a| a.role == place.role) {
                arg.value = Val::Lit {
                    value: json!(path.trim_end_matches(&last)),
                };
            }
        }
        let sub = |id: &str, verb: Verb, args: Vec<Arg>, plural: bool| Step {
            id: format!("{} {id}", step.id),
            said: step.said.clone(),
            does: super::super::plan::Does::Service {
                service: service.clone(),
                verb,
                object: Some(if plural {
                    "files".to_owned()
                } else {
                    object.clone().unwrap_or_else(|| "file".to_owned())
                }),
                args,
                once: false,
            },
            name: None,
        };
        let mut next = self.step(&sub("list", Verb::GetMany, listing, true), at.clone());
        if let Some(extension) = extension_in(&fold(&format!("{last} {}", call.said))) {
            let filter = super::super::plan::Cond::Compare {
                left: Val::Field {
                    name: "file name".into(),
                    of: None,
                },
                op: super::super::plan::Cmp::EndsWith,
                right: Val::Lit {
                    value: json!(format!(".{extension}")),
                },
            };
            let only = sub("filter", Verb::Other, Vec::new(), true);
            next = self.filter_step(&only, &filter, next);
        }
        let mut get = sub("download", Verb::Download, Vec::new(), false);
        // later steps mean the files by this step
        get.id.clone_from(&step.id);
        if matches!(call.short, "awsS3" | "s3" | "googleCloudStorage")
            && let super::super::plan::Does::Service { args: given, .. } = &mut get.does
        {
            given.extend(args.iter().filter(|a| a.role == Role::Container).cloned());
        }
        Some(self.step(&get, next))
    }

    /// After work on the rows inside files: one item per file again, once all branches are through.
    fn back_to_files(&mut self, at: At) -> At {
        let listed = at.seen.iter().copied().find(|i| {
            self.origins.get(*i).is_some_and(|o| {
                o.fields.iter().any(|(said, _)| {
                    said.starts_with("path")
                        || said.starts_with("file id")
                        || said.starts_with("id|file id")
                })
            })
        });
        let Some(index) = listed else {
            return at;
        };
        if at.json == Some(index) || at.is_dead() {
            return at;
        }
        let node = self
            .origins
            .get(index)
            .map(|o| o.node.clone())
            .unwrap_or_default();
        let mut at = at;
        if at.ends.len() > 1 {
            let ends = at.ends.clone();
            let count = ends.len().min(10);
            let mut params = object(&[("mode", json!("append"))]);
            if count > 2 {
                params.insert("numberInputs".into(), json!(count));
            }
            let merge = self.lone("Wait for both", "n8n-nodes-base.merge", params);
            for (i, end) in ends.iter().take(count).enumerate() {
                let input = u32::try_from(i).unwrap_or(0);
                self.workflow
                    .connect(&end.node, "main", end.output, &merge, input);
            }
            at = at.from(&merge, 0);
        }
        let code = format!(
            "return $({}).all();",
            words::js_string(&self.last_sieve(node.clone()))
        );
        let back = self.code(&at, "Back to the files", &code, false);
        let mut origin = self.origins.get(index).cloned().unwrap_or_default();
        origin.again = origin.again.or(Some(node));
        let next = self.produce(&at, &back, None, origin);
        At { many: true, ..next }
    }

    /// The last of the nodes right behind one that only let some of its items through.
    fn last_sieve(&self, node: String) -> String {
        const SIEVES: &[&str] = &["removeDuplicates", "filter", "limit"];
        let mut last = node;
        for _ in 0..self.workflow.nodes.len() {
            let next: Vec<&str> = self
                .workflow
                .edges()
                .filter(|(from, kind, ..)| *from == last && *kind == "main")
                .map(|(.., to)| to.node.as_str())
                .collect();
            let [only] = next.as_slice() else { break };
            let sieve = self.workflow.nodes.iter().find(|n| n.name() == *only);
            if !sieve.is_some_and(|n| SIEVES.contains(&agentctl_n8n::short_type(n.node_type()))) {
                break;
            }
            last = (*only).to_owned();
        }
        last
    }

    /// One item for each file of an item, in the field `data`.
    pub(super) fn one_file_each(&mut self, at: At) -> At {
        let code = "const out = [];\nfor (const [index, item] of $input.all().entries()) {\n  for (const key of Object.keys(item.binary ?? {})) {\n    out.push({\n      json: { ...item.json, fileName: item.binary[key].fileName },\n      binary: { data: item.binary[key] },\n      pairedItem: index,\n    });\n  }\n}\nreturn out;";
        let node = self.code(&at, "One item per attachment", code, false);
        let mut origin = at
            .json
            .and_then(|i| self.origins.get(i))
            .cloned()
            .unwrap_or_default();
        origin
            .fields
            .push(("file name|attachment name".into(), "fileName".into()));
        let next = self.produce(&at, &node, None, origin);
        At {
            binary: "data".to_owned(),
            file: true,
            many: true,
            ..next
        }
    }

    pub(super) fn files_before(
        &mut self,
        at: &At,
        call: &Call<'_>,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) {
        if !STORES.contains(&call.short) {
            return;
        }
        let lists = matches!(call.verb, Verb::GetMany | Verb::Search)
            || (call.verb == Verb::Get
                && fold(call.object).ends_with('s')
                && !fold(call.object).contains("attach"));
        let makes_folder =
            fold(call.object).contains("folder") && matches!(call.verb, Verb::Create | Verb::Add);
        if makes_folder {
            params.insert("resource".into(), json!("folder"));
            params.insert("operation".into(), json!("create"));
            return;
        }
        let saves = matches!(
            call.verb,
            Verb::Upload
                | Verb::Create
                | Verb::Add
                | Verb::Append
                | Verb::Send
                | Verb::Post
                | Verb::Insert
                | Verb::Set
                | Verb::Other
                | Verb::Upsert
        );
        if self.store_before(at, call, lists, saves, args, params) {
            return;
        }
        match call.short {
            "googleDrive" if saves => {
                params.insert("resource".into(), json!("file"));
                params.insert("operation".into(), json!("upload"));
                params.insert("driveId".into(), json!({"__rl": true, "mode": "list", "value": "My Drive", "cachedResultName": "My Drive"}));
                if let Some(folder) = take(args, &Role::Container)
                    .or_else(|| take(args, &Role::Path))
                    .or_else(|| take(args, &Role::Part))
                {
                    let text = self.text(at, &folder.value);
                    params.insert("folderId".into(), self.folder(&text));
                }
                if let Some(name) = take(args, &Role::FileName).or_else(|| take(args, &Role::Title))
                {
                    params.insert("name".into(), self.value(at, &name.value));
                } else if at.file {
                    params.insert(
                        "name".into(),
                        json!(format!("={{{{ $binary.{}.fileName }}}}", at.binary)),
                    );
                }
                if at.binary != "data" {
                    params.insert("inputDataFieldName".into(), json!(at.binary));
                }
                args.retain(|a| a.role != Role::Attachment);
            }
            "googleDrive" if lists => {
                params.insert("resource".into(), json!("fileFolder"));
                params.insert("operation".into(), json!("search"));
                if let Some(folder) =
                    take(args, &Role::Container).or_else(|| take(args, &Role::Path))
                {
                    let text = self.text(at, &folder.value);
                    params.insert(
                        "filter".into(),
                        json!({"folderId": self.folder(&text), "whatToSearch": "files"}),
                    );
                }
            }
            "googleDrive" if matches!(call.verb, Verb::Get | Verb::Download) => {
                params.insert("resource".into(), json!("file"));
                params.insert("operation".into(), json!("download"));
                self.file_id(at, args, params);
            }
            "googleDrive" if call.verb == Verb::Move => {
                params.insert("resource".into(), json!("file"));
                params.insert("operation".into(), json!("move"));
                self.file_id(at, args, params);
                params.insert("driveId".into(), json!({"__rl": true, "mode": "list", "value": "My Drive", "cachedResultName": "My Drive"}));
                if let Some(folder) = take(args, &Role::Container)
                    .or_else(|| take(args, &Role::Path))
                    .or_else(|| take(args, &Role::Part))
                {
                    let text = self.text(at, &folder.value);
                    params.insert("folderId".into(), self.folder(&text));
                }
            }
            "awsS3" | "s3" | "googleCloudStorage" => {
                let object = call.short == "googleCloudStorage";
                params.insert(
                    "resource".into(),
                    json!(if object { "object" } else { "file" }),
                );
                let operation = match call.verb {
                    Verb::Download => "download",
                    Verb::Get if !lists => "download",
                    Verb::Delete | Verb::Remove => "delete",
                    Verb::Move => "copy",
                    _ if lists => "getAll",
                    _ if object => "create",
                    _ => "upload",
                };
                params.insert("operation".into(), json!(operation));
                if let Some(bucket) =
                    take(args, &Role::Container).or_else(|| take(args, &Role::Part))
                {
                    params.insert("bucketName".into(), self.value(at, &bucket.value));
                } else if let Some(used) = self.workflow.nodes.iter().rev().find_map(|n| {
                    let same = short_of(n.node_type()) == call.short;
                    n.parameters()?.get("bucketName").filter(|_| same).cloned()
                }) {
                    params.insert("bucketName".into(), used);
                }
                let name = take(args, &Role::FileName)
                    .or_else(|| take(args, &Role::Path))
                    .or_else(|| take(args, &Role::Title));
                if matches!(operation, "upload" | "create") {
                    let value = name.map_or_else(
                        || json!(format!("={{{{ $binary.{}.fileName }}}}", at.binary)),
                        |n| self.value(at, &n.value),
                    );
                    params.insert(if object { "objectName" } else { "fileName" }.into(), value);
                } else if operation == "download" {
                    let value = name.map(|n| self.value(at, &n.value)).unwrap_or_else(|| {
                        let js = self
                            .has_field(at, "key")
                            .unwrap_or_else(|| "$json.Key".to_owned());
                        super::expr::expression(&js)
                    });
                    params.insert(if object { "objectName" } else { "fileKey" }.into(), value);
                }
                args.retain(|a| a.role != Role::Attachment);
            }
            "ftp" => self.ftp(at, call, lists, args, params),
            _ if saves => {
                args.retain(|a| a.role != Role::Attachment);
            }
            _ => {}
        }
    }

    fn file_id(&mut self, at: &At, args: &mut Vec<Arg>, params: &mut Map<String, Value>) {
        let given = take(args, &Role::Url).or_else(|| take(args, &Role::Id));
        let locator = match given {
            Some(arg) => {
                let text = self.text(at, &arg.value);
                let mode = if text.starts_with("http") {
                    "url"
                } else {
                    "id"
                };
                json!({"__rl": true, "mode": mode, "value": text})
            }
            None => {
                let js = self
                    .has_field(at, "file id")
                    .unwrap_or_else(|| "$json.id".to_owned());
                json!({"__rl": true, "mode": "id", "value": format!("={{{{ {js} }}}}")})
            }
        };
        params.insert("fileId".into(), locator);
    }

    fn folder(&mut self, text: &str) -> Value {
        if text.starts_with("http") {
            return json!({"__rl": true, "mode": "url", "value": text});
        }
        let id =
            text.len() >= 20 && !text.contains(' ') && text.chars().any(|c| c.is_ascii_digit());
        if id || text.starts_with('=') {
            return json!({"__rl": true, "mode": "id", "value": text});
        }
        self.todo("id", "Google Drive", format!("choose the folder {text:?}"));
        json!({"__rl": true, "mode": "list", "value": text, "cachedResultName": text})
    }

    fn ftp(
        &mut self,
        at: &At,
        call: &Call<'_>,
        lists: bool,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) {
        let secure = fold(call.said).contains("sftp") || args.iter().any(|a| matches!(&a.value, Val::Lit { value: Value::String(s) } if fold(s).contains("sftp")));
        params.insert(
            "protocol".into(),
            json!(if secure { "sftp" } else { "ftp" }),
        );
        let operation = match call.verb {
            _ if lists => "list",
            Verb::Get | Verb::Download => "download",
            Verb::Move => "rename",
            Verb::Delete | Verb::Remove => "delete",
            Verb::GetMany | Verb::Search => "list",
            _ => "upload",
        };
        params.insert("operation".into(), json!(operation));
        let place = take(args, &Role::Container)
            .or_else(|| take(args, &Role::Path))
            .or_else(|| take(args, &Role::Part));
        let folder = place.map(|p| self.text(at, &p.value));
        let listed = at
            .json
            .into_iter()
            .chain(at.seen.iter().copied())
            .find(|i| {
                self.origins
                    .get(*i)
                    .is_some_and(|o| o.fields.iter().any(|(_, p)| p == "path"))
            });
        let known = |d: &Self, field: &str| listed.map(|i| d.at_origin(at, i, field));
        match operation {
            "list" => {
                params.insert(
                    "path".into(),
                    json!(folder.unwrap_or_else(|| "/".to_owned())),
                );
            }
            "rename" => {
                let _ = lists;
                let old = known(self, "path").unwrap_or_else(|| "$json.path".to_owned());
                let name = known(self, "name").unwrap_or_else(|| "$json.name".to_owned());
                params.insert("oldPath".into(), super::expr::expression(&old));
                let target = folder.unwrap_or_else(|| "/<folder>".to_owned());
                params.insert(
                    "newPath".into(),
                    json!(format!(
                        "={}/{{{{ {name} }}}}",
                        target.trim_end_matches('/')
                    )),
                );
                params.insert("options".into(), json!({"createDirectories": true}));
            }
            "download" | "delete" => {
                let path = match (&folder, known(self, "path")) {
                    (Some(path), None) => json!(path),
                    (_, Some(js)) => super::expr::expression(&js),
                    (None, None) => json!("={{ $json.path }}"),
                };
                params.insert("path".into(), path);
            }
            _ => {
                let name = take(args, &Role::FileName)
                    .map(|n| self.inline(at, &n.value))
                    .unwrap_or_else(|| format!("{{{{ $binary.{}.fileName }}}}", at.binary));
                let folder = folder.unwrap_or_default();
                params.insert(
                    "path".into(),
                    json!(format!("={}/{name}", folder.trim_end_matches('/'))),
                );
            }
        }
    }

    pub(super) fn to_file_step(
        &mut self,
        step: &Step,
        format: &str,
        file_name: Option<&Val>,
        at: At,
    ) -> At {
        let format = fold(format);
        let mut options = Map::new();
        let name = file_name.map(|v| self.value(&at, v));
        if archive(&format) {
            let output = if format.contains("gz") { "gzip" } else { "zip" };
            let name = name.unwrap_or_else(|| {
                json!(if output == "zip" {
                    "files.zip"
                } else {
                    "file.gz"
                })
            });
            let params = object(&[
                ("operation", json!("compress")),
                ("binaryPropertyName", json!(at.binary)),
                ("outputFormat", json!(output)),
                ("fileName", name),
            ]);
            let wish = self.wish(step, "Compress");
            let node = self.node(&at, &wish, COMPRESSION, params);
            return At {
                binary: "data".into(),
                file: true,
                ..at.from(&node, 0)
            };
        }
        let operation = match format.as_str() {
            "json" => "toJson",
            "xlsx" | "excel" => "xlsx",
            "xls" => "xls",
            "ods" => "ods",
            "html" => "html",
            "text" | "txt" | "md" | "markdown" => "toText",
            "ics" | "ical" => "iCal",
            "pdf" => "toText",
            _ => "csv",
        };
        let mut params = object(&[("operation", json!(operation))]);
        if format == "pdf" {
            // No node of n8n's own writes a PDF.
            self.gap(&step.said);
            self.note("n8n has no node that writes a PDF: the file is plain text");
        }
        if operation == "toText" {
            let path = self
                .subject(&at)
                .filter(|i| at.json == Some(*i))
                .and_then(|i| self.origins.get(i))
                .and_then(|o| {
                    o.fields
                        .iter()
                        .find(|(said, _)| said.starts_with("text"))
                        .map(|(_, p)| p.clone())
                })
                .unwrap_or_else(|| "text".to_owned());
            params.insert("sourceProperty".into(), json!(path));
        }
        let at = if at.list.is_some()
            && matches!(operation, "csv" | "xlsx" | "xls" | "ods" | "html")
            && at.list.as_deref() == Some("data")
        {
            // a table has a row for each item, not for the list
            let split = Step {
                id: format!("{} rows", step.id),
                said: String::new(),
                does: super::super::plan::Does::Split {
                    field: Val::Expr {
                        code: "data".into(),
                    },
                },
                name: None,
            };
            self.split_step(
                &split,
                &Val::Expr {
                    code: "data".into(),
                },
                at,
            )
        } else {
            at
        };
        if let Some(name) = name {
            options.insert("fileName".into(), name);
        }
        params.insert("options".into(), Value::Object(options));
        let wish = self.wish(step, format!("Convert to {}", format.to_uppercase()));
        let node = self.node(&at, &wish, TO_FILE, params);
        let next = self.produce(
            &at,
            &node,
            Some(&step.id),
            Origin {
                acting: true,
                ..Origin::default()
            }
            .about("file"),
        );
        At {
            binary: "data".into(),
            file: true,
            many: false,
            paired: at.paired,
            ..next
        }
    }

    pub(super) fn from_file_step(
        &mut self,
        step: &Step,
        format: &str,
        options: &[Arg],
        at: At,
    ) -> At {
        let format = fold(format);
        let at = self.fetched(step, at);
        let at = if at.binary == "attachment_0" && !archive(&format) {
            self.one_file_each(at)
        } else {
            at
        };
        if archive(&format) {
            let params = object(&[
                ("operation", json!("decompress")),
                ("binaryPropertyName", json!(at.binary)),
                ("outputPrefix", json!("file_")),
            ]);
            let wish = self.wish(step, "Unpack");
            let node = self.node(&at, &wish, COMPRESSION, params);
            let next = At {
                file: true,
                ..at.from(&node, 0)
            };
            // an archive holds several files: one item each
            return self.one_file_each(next);
        }
        let operation = match format.as_str() {
            "json" => "fromJson",
            "xlsx" | "excel" => "xlsx",
            "xls" => "xls",
            "ods" => "ods",
            "html" => "html",
            "text" | "txt" | "md" => "text",
            "xml" => "xml",
            "pdf" => "pdf",
            "ics" | "ical" => "fromIcs",
            "rtf" => "rtf",
            _ => "csv",
        };
        let mut map = Map::new();
        let facts = self.facts(FROM_FILE);
        let mut params = object(&[
            ("operation", json!(operation)),
            ("binaryPropertyName", json!(at.binary)),
        ]);
        for arg in options {
            let said = super::roles::as_field(&arg.role);
            let value = self.value(&at, &arg.value);
            if let Some(facts) = &facts
                && let Some(collection) = facts.property(&params, "options")
            {
                let child = facts
                    .children(collection, &params)
                    .into_iter()
                    .filter_map(|c| {
                        super::place::shape(c, &value).map(|v| {
                            (
                                c.name.clone(),
                                v,
                                words::similar(&said, &c.name).max(words::similar(&said, &c.label)),
                            )
                        })
                    })
                    .filter(|(_, _, s)| *s >= 0.6)
                    .max_by(|a, b| a.2.total_cmp(&b.2));
                if let Some((name, value, _)) = child {
                    map.insert(name, value);
                } else if matches!(
                    fold(&said).as_str(),
                    "separator" | "separated" | "trennzeichen"
                ) {
                    map.insert("delimiter".into(), value);
                }
            }
        }
        params.insert("options".into(), Value::Object(map));
        let wish = self.wish(step, format!("Read {}", format.to_uppercase()));
        let node = self.node(&at, &wish, FROM_FILE, params);
        let rows = !matches!(operation, "pdf" | "text" | "html" | "rtf");
        let origin = if rows {
            Origin::default()
                .about("row line record")
                .spelled(Spelling::AsSaid)
        } else {
            Origin::default()
                .about("file document text")
                .field("text|content|answer", "text")
        };
        let next = self.produce(&at, &node, Some(&step.id), origin);
        At {
            many: rows || at.many,
            file: false,
            ..next
        }
    }

    pub(super) fn read_disk_step(&mut self, step: &Step, path: &str, at: At) -> At {
        let params = object(&[
            ("operation", json!("read")),
            ("fileSelector", json!(path)),
            ("options", json!({})),
        ]);
        let wish = self.wish(step, "Read file from disk");
        let node = self.node(&at, &wish, DISK, params);
        let next = self.produce(
            &at,
            &node,
            Some(&step.id),
            Origin::default()
                .about("file")
                .field("file name|name", "fileName"),
        );
        At {
            binary: "data".into(),
            file: true,
            ..next
        }
    }

    pub(super) fn write_disk_step(&mut self, step: &Step, path: &str, at: At) -> At {
        let at = if at.file {
            at
        } else {
            let format = path.rsplit('.').next().unwrap_or("json").to_owned();
            let name = path.rsplit('/').next().unwrap_or("").to_owned();
            let file = Step {
                id: format!("{} file", step.id),
                name: None,
                said: String::new(),
                does: step.does.clone(),
            };
            self.to_file_step(&file, &format, Some(&Val::Lit { value: json!(name) }), at)
        };
        let params = object(&[
            ("operation", json!("write")),
            ("fileName", json!(path)),
            ("dataPropertyName", json!(at.binary)),
            ("options", json!({})),
        ]);
        let wish = self.wish(step, "Write file to disk");
        let node = self.node(&at, &wish, DISK, params);
        at.from(&node, 0)
    }
}

/// The kind of file that is meant: `*.zip`, "zip files", "the CSVs".
fn extension_in(said: &str) -> Option<String> {
    if let Some(at) = said.find("*.") {
        let found: String = said
            .get(at + 2..)
            .unwrap_or("")
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        if !found.is_empty() {
            return Some(found);
        }
    }
    ["zip", "csv", "pdf", "xlsx", "json", "xml", "txt"]
        .into_iter()
        .find(|e| {
            said.split(|c: char| !c.is_alphanumeric())
                .any(|w| w == *e || w == format!("{e}s"))
        })
        .map(str::to_owned)
}
