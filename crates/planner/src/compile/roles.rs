//! Which parameter an argument's role means: names that services use for "to", "channel", "container" and so on, and
//! how well a parameter's name and label fit them. Pure; reads no values.

use super::super::plan::Role;
use super::words::{alike, fold, words};
use agentctl_n8n::catalog::Property;

fn hints(role: &Role) -> &'static [&'static str] {
    match role {
        Role::To => &[
            "sendTo",
            "toEmail",
            "to",
            "toRecipients",
            "toAddresses",
            "toList",
            "recipients",
            "recipient",
            "email",
            "emailAddress",
            "phoneNumber",
            "number",
            "userId",
            "user",
        ],
        Role::From => &[
            "fromEmail",
            "from",
            "sender",
            "senderId",
            "fromAddress",
            "fromNumber",
            "senderPhone",
        ],
        Role::Cc => &["ccEmail", "ccList", "cc", "ccRecipients", "ccAddresses"],
        Role::Channel => &[
            "channelId",
            "channel",
            "roomId",
            "room",
            "chatId",
            "spaceId",
            "streamId",
            "topic",
            "destinationId",
            "stream",
        ],
        Role::Recipient => &[
            "user",
            "userId",
            "recipientPhoneNumber",
            "chatId",
            "to",
            "phoneNumber",
            "recipient",
            "recipients",
            "personId",
            "number",
            "sendTo",
            "toEmail",
            "email",
            "recipientId",
            "userKey",
        ],
        Role::Subject => &["subject", "title", "summary", "topic"],
        Role::Text => &[
            "message",
            "text",
            "messageText",
            "body",
            "content",
            "html",
            "textBody",
            "textContent",
            "description",
            "comment",
            "note",
            "notes",
            "messageContent",
            "messageBody",
            "tweetText",
            "caption",
            "details",
        ],
        Role::Container => &[
            "documentId",
            "base",
            "databaseId",
            "dataSourceId",
            "project",
            "projectId",
            "boardId",
            "board",
            "bucketName",
            "bucket",
            "collection",
            "list",
            "calendar",
            "calendarId",
            "folderId",
            "teamId",
            "team",
            "repository",
            "listId",
            "spreadsheetId",
            "workbook",
            "mailbox",
            "siteId",
            "site",
            "space",
            "workspace",
            "database",
            "dataset",
            "accountId",
            "propertyId",
            "organization",
            "formId",
            "form",
            "feedUrl",
            "group",
            "groupId",
            "audience",
            "baseId",
            "folderToWatch",
            "queue",
            "vault",
            "index",
        ],
        Role::Part => &[
            "sheetName",
            "table",
            "tableId",
            "dataTableId",
            "worksheet",
            "section",
            "sectionId",
            "listId",
            "column",
            "columnId",
            "view",
            "groupId",
            "list",
            "dataset",
            "folder",
        ],
        Role::Query => &[
            "query",
            "searchText",
            "q",
            "search",
            "jql",
            "filter",
            "filterByFormula",
            "sql",
            "sqlQuery",
            "searchTerm",
            "keyword",
            "term",
            "queryString",
            "searchQuery",
            "gaqlQuery",
            "filters",
            "options",
        ],
        Role::Url => &["url", "link", "websiteUrl", "feedUrl", "fileUrl", "uri"],
        Role::Method => &["method", "httpMethod"],
        Role::Path => &[
            "path",
            "filePath",
            "fileKey",
            "fileName",
            "remotePath",
            "key",
            "fileSelector",
            "folderPath",
            "directory",
            "name",
        ],
        Role::FileName => &[
            "fileName", "name", "filename", "fileKey", "title", "key", "newName",
        ],
        Role::Template => &["template", "templateId", "templateName", "templateKey"],
        Role::Stage => &[
            "stage",
            "stageId",
            "dealstage",
            "stageName",
            "pipelineStage",
            "statusId",
        ],
        Role::Priority => &["priority", "priorityId", "importance", "urgency"],
        Role::Due => &[
            "dueDateTime",
            "due",
            "dueDate",
            "dueString",
            "dueOn",
            "due_on",
            "dueDateTimeUtc",
            "deadline",
            "due_date",
            "closeDate",
            "endDate",
        ],
        Role::Title => &[
            "title",
            "name",
            "summary",
            "subject",
            "content",
            "taskName",
            "dealName",
            "dealname",
            "postTitle",
            "issueTitle",
            "label",
            "text",
            "pageTitle",
            "topic",
        ],
        Role::Label => &["labelIds", "labels", "label", "tags", "tag", "tagIds"],
        Role::Status => &[
            "status",
            "state",
            "statusId",
            "stateId",
            "status_id",
            "issueStatus",
            "conversationStatus",
        ],
        Role::Id => &[
            "id",
            "messageId",
            "issueKey",
            "ticketId",
            "contactId",
            "taskId",
            "pageId",
            "recordId",
            "fileId",
            "eventId",
            "dealId",
            "orderId",
            "threadId",
            "userId",
            "postId",
            "issueNumber",
            "invoiceId",
            "itemId",
            "leadId",
            "cardId",
            "videoId",
        ],
        Role::MatchOn => &[
            "columnToMatchOn",
            "columnsToMatchOn",
            "lookupColumn",
            "externalId",
            "updateKey",
            "matchingColumns",
            "fieldsToMatchOn",
            "email",
            "search",
        ],
        Role::Limit => &["limit", "maxResults", "maxItems", "pageSize", "count"],
        Role::TimeRange => &["dateRange", "timeRange", "period", "range"],
        Role::Branch => &["branch", "ref", "reference"],
        Role::Attachment => &[
            "attachments",
            "attachmentsUi",
            "attachment",
            "binaryPropertyName",
            "inputDataFieldName",
            "binaryProperty",
        ],
        Role::Command => &["command", "script", "code"],
        Role::Workflow => &["workflowId", "workflow"],
        Role::Body => &["body", "jsonBody", "content", "text", "message", "data"],
        Role::Header => &["headers"],
        Role::Named(_) | Role::Where { .. } | Role::Field(_) => &[],
    }
}

/// A role as a field's name, for collections and mappers.
pub(super) fn as_field(role: &Role) -> String {
    match role {
        Role::Field(name) | Role::Named(name) => name.clone(),
        Role::Where { column, .. } => column.clone(),
        Role::To | Role::Recipient => "email".to_owned(),
        Role::Text | Role::Body => "text".to_owned(),
        Role::Title => "title".to_owned(),
        Role::Due => "due date".to_owned(),
        Role::FileName => "file name".to_owned(),
        Role::MatchOn => "id".to_owned(),
        Role::TimeRange => "time range".to_owned(),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// The role may become a column or a property of the object.
pub(super) fn is_content(role: &Role) -> bool {
    matches!(
        role,
        Role::Field(_)
            | Role::Title
            | Role::Due
            | Role::Priority
            | Role::Status
            | Role::Stage
            | Role::Subject
            | Role::Text
            | Role::Label
            | Role::Url
            | Role::Body
    )
}

/// How well a parameter fits a role, 0 to 1.
pub(super) fn fit(role: &Role, property: &Property) -> f64 {
    if let Role::Field(name) = role {
        let said = words(name);
        let by_name = alike(&said, &words(&property.name));
        // "Database Name or ID" is no name
        let label = property
            .label
            .replace(" Name or ID", "")
            .replace(" Names or IDs", "");
        let by_label = alike(&said, &words(&label));
        let mut score = by_name.max(by_label);
        // "customer email" must not land in a parameter that is only `customer`
        let last = said.last();
        if said.len() > 1
            && score < 0.9
            && last.is_some_and(|l| {
                !words(&property.name).contains(l) && !words(&property.label).contains(l)
            })
        {
            score *= 0.5;
        }
        return score;
    }
    let name = fold(&property.name);
    let mut best: f64 = 0.0;
    let label = words(&property.label);
    for (place, hint) in hints(role).iter().enumerate() {
        if fold(hint) == name {
            best = best.max(1.0 - 0.02 * place as f64);
        } else if place < 4 {
            let hint = words(hint);
            let close = alike(&hint, &words(&property.name)).max(alike(&hint, &label));
            if close >= 0.75 {
                best = best.max(0.7 * close - 0.02 * place as f64);
            }
        }
    }
    best
}
