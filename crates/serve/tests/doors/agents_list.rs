//! Tasks as other agents list them: their own, the newest first, page by page.

use super::agents::{HEADERS, message, rpc, sent};
use super::support::Desk;
use serde_json::{Value, json};

async fn listed(desk: &Desk, params: Value) -> Value {
    rpc(desk, "ListTasks", params).await["result"].clone()
}

fn ids(list: &Value) -> Vec<&str> {
    let tasks = list["tasks"].as_array().unwrap().iter();
    tasks.map(|task| task["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn tasks_are_listed_page_by_page_and_by_what_they_are() {
    let desk = Desk::open().await;
    let mut made = Vec::new();
    for n in 0..5 {
        let text = if n == 2 { "which" } else { "hello" };
        made.push(sent(&desk, &message(&format!("m-{n}"), text)).await);
    }
    let id = |n: usize| made[n]["id"].as_str().unwrap();
    let newest: Vec<&str> = (0..5).rev().map(id).collect();
    let all = listed(&desk, json!({})).await;
    assert_eq!(ids(&all), newest);
    assert_eq!(
        (&all["totalSize"], &all["pageSize"], &all["nextPageToken"]),
        (&json!(5), &json!(5), &json!(""))
    );
    assert_eq!(all["tasks"][0]["artifacts"], Value::Null);
    let mut token = String::new();
    let mut paged = Vec::new();
    for size in [2, 2, 1] {
        let page = listed(&desk, json!({"pageSize": 2, "pageToken": token})).await;
        assert_eq!(
            (page["tasks"].as_array().unwrap().len(), &page["totalSize"]),
            (size, &json!(5))
        );
        paged.extend(ids(&page).into_iter().map(str::to_owned));
        token = page["nextPageToken"].as_str().unwrap().to_owned();
    }
    assert_eq!(
        (paged, token.as_str()),
        (newest.iter().map(|id| (*id).to_owned()).collect(), "")
    );
    let waiting = listed(&desk, json!({"status": "TASK_STATE_INPUT_REQUIRED"})).await;
    assert_eq!(
        (ids(&waiting), &waiting["totalSize"]),
        (vec![id(2)], &json!(1))
    );
    let context = listed(
        &desk,
        json!({"contextId": made[1]["contextId"], "includeArtifacts": true}),
    )
    .await;
    assert_eq!(ids(&context), [id(1)]);
    assert_eq!(context["tasks"][0]["artifacts"], made[1]["artifacts"]);
    let since = json!({"statusTimestampAfter": made[3]["status"]["timestamp"]});
    assert_eq!(ids(&listed(&desk, since).await), [id(4), id(3)]);
    // What was written last comes first.
    let mut answer = message("m-9", "red");
    answer["taskId"] = made[2]["id"].clone();
    sent(&desk, &answer).await;
    assert_eq!(ids(&listed(&desk, json!({"pageSize": 1})).await), [id(2)]);

    let path = "/a2a/v1/tasks?pageSize=1&includeArtifacts=true&status=TASK_STATE_COMPLETED";
    let rest = desk.ask("GET", path, &HEADERS, b"").await.json();
    assert_eq!((ids(&rest), &rest["totalSize"]), (vec![id(2)], &json!(5)));
    // ProtoJSON takes the names of the proto, too.
    let path = "/a2a/v1/tasks?page_size=1&include_artifacts=true&context_id=";
    assert_eq!(desk.ask("GET", path, &HEADERS, b"").await.json(), rest);
    let proto = json!({"id": id(2), "history_length": 1});
    let task = &rpc(&desk, "GetTask", proto).await["result"];
    assert_eq!(task["history"].as_array().unwrap().len(), 1);
    for wrong in [
        json!({"pageSize": 0}),
        json!({"pageSize": 101}),
        json!({"status": "TASK_STATE_RUNNING"}),
        json!({"pageToken": "x"}),
        json!({"statusTimestampAfter": "yesterday"}),
    ] {
        assert_eq!(
            rpc(&desk, "ListTasks", wrong).await["error"]["code"],
            -32602
        );
    }
    let others = [
        ("authorization", "Basic ZGVtbzpkZW1v"),
        ("a2a-version", "1.0"),
    ];
    let theirs = desk.ask("GET", "/a2a/v1/tasks", &others, b"").await.json();
    assert_eq!(
        theirs,
        json!({"tasks": [], "nextPageToken": "", "pageSize": 0, "totalSize": 0})
    );
}
