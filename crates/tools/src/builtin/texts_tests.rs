use super::{Library, Spec, Web, check};
use agentctl_base::yaml;
use agentctl_engine::toolset::Outcome;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Nothing was found there.
const NO_WEB: Web<'static> = Web {
    found: &[],
    alone: false,
};

fn data() -> Arc<Map<String, Value>> {
    let texts = json!([
        {"doc": "a", "title": "The bridge", "source": "City, leaflet", "date": "2020", "text": "The Vell bridge is 310 metres long. It was opened in 2004."},
        {"doc": "b", "title": "Our bridges", "source": "Engineers", "date": "2021", "text": "With 310 metres the Vell bridge is the longest of the town."},
        {"doc": "c", "title": "A walk", "source": "A blog", "date": "2022", "text": "The Vell bridge is 450 metres long, and the wind is cold."},
    ]);
    Arc::new(Map::from_iter([("texts".to_owned(), texts)]))
}

async fn call(function: &str, args: Value, library: &Library) -> Result<Value, String> {
    let spec = Spec::of(&json!({"function": function, "documents": "texts"}));
    match spec
        .call(args.as_object().unwrap(), library, &NO_WEB, None)
        .await
    {
        Outcome::Ok(result) => Ok(result),
        Outcome::Failed(content) => Err(content["error"].as_str().unwrap().to_owned()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn documents_of_a_pack_are_searched_read_and_compared() {
    let library = Library::new(None, None, data());
    let found = call(
        "web_search",
        json!({"query": "How long is the bridge?", "limit": 2}),
        &library,
    )
    .await
    .unwrap();
    let first = &found["results"][0];
    assert_eq!(
        (first["id"].as_str(), first["source"].as_str()),
        (Some("a#1"), Some("City, leaflet")),
        "{found}"
    );
    assert_eq!(found["results"].as_array().unwrap().len(), 2);
    let read = call("read_document", json!({"doc": "c.md"}), &library)
        .await
        .unwrap();
    assert!(
        read["text"]
            .as_str()
            .unwrap()
            .ends_with("the wind is cold."),
        "{read}"
    );
    assert!(
        call("read_document", json!({"doc": "../c"}), &library)
            .await
            .unwrap_err()
            .contains("no document")
    );

    let claims = json!([
        {"id": "1", "text": "The Vell bridge is 450 metres long, and the wind is cold.", "sources": ["c#1"]},
        {"id": "2", "text": "The Vell bridge is 310 metres long.", "sources": ["a#1"]},
        {"id": "3", "text": "It was opened in 2004.", "sources": ["a#2"]},
        {"id": "4", "text": "The bridge is green.", "sources": ["z#9"]},
        {"id": "5", "text": "The Vell bridge is 700 metres long.", "sources": []},
    ]);
    let checked = call("check_claims", json!({"claims": claims}), &library)
        .await
        .unwrap();
    let verdicts: Vec<&str> = checked["checked"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(
        verdicts,
        ["contradicted", "supported", "unverified", "contradicted"],
        "{checked}"
    );
    let outside = &checked["checked"][3]["sources"];
    assert_eq!(outside.as_array().unwrap().len(), 2, "{outside}");
    assert!(
        outside
            .as_array()
            .unwrap()
            .iter()
            .all(|s| s["says"] == "otherwise")
    );
    assert_eq!(checked["without_source"], json!(["4"]));
}

#[tokio::test]
async fn a_folder_stands_for_the_documents_of_the_pack() {
    let folder = std::env::temp_dir().join(format!("agentctl-folder-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("more")).unwrap();
    std::fs::write(
        folder.join("one.md"),
        "# Salt\n\nSource: Mine\n\nThe mine gives 40 tonnes of salt a day.\n",
    )
    .unwrap();
    std::fs::write(
        folder.join("more/two.html"),
        "<title>Salt</title><script>x()</script><p>Salt &amp; <b>pepper</b></p>",
    )
    .unwrap();
    std::fs::write(folder.join("three.csv"), "year,salt\n2020,\"12,5\"\n").unwrap();
    std::fs::write(folder.join("four.bin"), [0, 1, 2]).unwrap();
    std::fs::write(folder.join("one.txt"), "Salt is white.").unwrap();
    std::fs::write(folder.join("five.pdf"), "%PDF-1.4").unwrap();
    let library = Library::new(Some(folder.clone()), None, data());
    let read = async |doc: &str| {
        let args = json!({"doc": doc, "folder": folder});
        let read = call("read_document", args, &library).await;
        read.map(|d| d["text"].as_str().unwrap().to_owned())
    };
    assert_eq!(
        read("one").await.unwrap(),
        "The mine gives 40 tonnes of salt a day."
    );
    // A file's name without its ending is the first one's; another one is named whole.
    assert_eq!(read("one.txt").await.unwrap(), "Salt is white.");
    assert_eq!(read("more/two").await.unwrap(), "Salt & pepper");
    assert_eq!(read("three").await.unwrap(), "year: 2020, salt: 12,5");
    assert!(read("a").await.is_err(), "the pack's own are not asked");
    // Without a program that reads it, a file is named as not read.
    let why = "five.pdf was not read: nothing here reads pdf files";
    assert_eq!(read("five.pdf").await.unwrap_err(), why);
    let args = json!({"query": "salt", "folder": folder});
    let found = call("web_search", args.clone(), &library).await.unwrap();
    assert_eq!(
        found["unread"],
        json!([{"file": "five.pdf", "why": "nothing here reads pdf files"}])
    );
    let other = json!({"doc": "one", "folder": "/etc"});
    let refused = call("read_document", other, &library).await.unwrap_err();
    assert!(refused.contains("was not given"), "{refused}");
    assert!(
        call("read_document", json!({"doc": "a"}), &library)
            .await
            .is_ok()
    );
    std::fs::remove_dir_all(&folder).unwrap();
    let gone = Library::new(Some(folder.clone()), None, data());
    let why = call("web_search", args, &gone).await.unwrap_err();
    assert!(why.contains("cannot read the folder"), "{why}");
    let empty = Library::new(None, None, Arc::default());
    let args = json!({"query": "salt"});
    assert!(call("web_search", args, &empty).await.is_err());
}

#[test]
fn a_tool_file_that_does_not_fit_its_function_is_told() {
    let told = |text: &str, values: &[&str]| {
        let node = yaml::read(text, "tool.yaml").unwrap();
        let values: Vec<String> = values.iter().map(|v| (*v).to_owned()).collect();
        check(&node, &values)
            .into_iter()
            .map(|(_, message)| message)
            .collect::<Vec<_>>()
            .join("; ")
    };
    assert_eq!(
        told(
            "function: web_search\ndocuments: texts\n",
            &["query", "limit"]
        ),
        ""
    );
    assert!(told("function: websearch\n", &[]).contains("function is one of web_search"));
    assert!(
        told("function: web_search\ndocuments: texts\n", &["limit"])
            .contains("needs the parameter \"query\"")
    );
    assert!(told("function: web_search\n", &["query"]).contains("needs documents"));
    assert!(
        told("function: statistics\ndocuments: texts\n", &["what"]).contains("reads no documents")
    );
    assert!(told("function: statistics\n", &["what", "z"]).contains("no parameter \"z\""));
    assert!(
        told("function: statistics\ncommand: rm\n", &["what"]).contains("there is no \"command\"")
    );
}
