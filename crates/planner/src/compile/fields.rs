//! What the items of triggers and services look like: our own table of common output fields, by node type.
//! A name that is not in the table is spelled in the service's usual way. Facts about interfaces only.

use super::data::{Origin, Spelling};
use super::words::words;
use agentctl_n8n::short_type;

type Row = (&'static str, &'static str);

/// (base path, spelling, what an item is, fields)
struct Shape(&'static str, Spelling, &'static str, &'static [Row]);

use Spelling::{AsSaid, Camel, Pascal, Snake};

const MAIL: &[Row] = &[
    (
        "from|sender|sender address|from address|sender email",
        "from.value[0].address",
    ),
    ("sender name|from name", "from.value[0].name"),
    ("to|recipient", "to.value[0].address"),
    ("subject|mail subject", "subject"),
    ("text|body|mail text|email body|message", "text"),
    ("html", "html"),
    ("date|received", "date"),
    ("id|message id", "id"),
    ("thread id", "threadId"),
    ("labels", "labelIds"),
    ("snippet|preview", "snippet"),
    ("link|mail link|email link", "id"),
];

fn trigger_shape(short: &str) -> Option<Shape> {
    Some(match short {
        "gmailTrigger" | "gmail" => Shape("", Camel, "mail email message", MAIL),
        "emailReadImap" => Shape(
            "",
            Camel,
            "mail email message",
            &[
                (
                    "from|sender|sender address|sender email",
                    "from.value[0].address",
                ),
                ("sender name", "from.value[0].name"),
                ("to|recipient", "to.value[0].address"),
                ("subject", "subject"),
                ("text|body|message", "text"),
                ("html", "html"),
                ("date|received", "date"),
                ("id|message id", "messageId"),
            ],
        ),
        "microsoftOutlookTrigger" | "microsoftOutlook" => Shape(
            "",
            Camel,
            "mail email message",
            &[
                (
                    "from|sender|sender address|sender email",
                    "from.emailAddress.address",
                ),
                ("sender name", "from.emailAddress.name"),
                ("subject", "subject"),
                ("text|body|message|preview", "bodyPreview"),
                ("html", "body.content"),
                ("date|received", "receivedDateTime"),
                ("id|message id", "id"),
                ("link", "webLink"),
            ],
        ),
        "githubTrigger" => Shape(
            "body",
            Snake,
            "push commit repository issue pull request github",
            &[
                (
                    "pusher|who pushed|author|pusher name|committer",
                    "pusher.name",
                ),
                (
                    "commit message|head commit message|last commit message|message",
                    "head_commit.message",
                ),
                ("commit url|commit link|link", "head_commit.url"),
                ("commit id|commit hash|sha", "head_commit.id"),
                ("branch|ref|branch name", "ref"),
                ("repository|repo|repository name", "repository.full_name"),
                ("compare url", "compare"),
                ("issue title|title", "issue.title"),
                ("issue body|issue text|description", "issue.body"),
                ("issue url|issue link", "issue.html_url"),
                ("issue number", "issue.number"),
                ("label|label name", "label.name"),
                ("pull request title|pr title", "pull_request.title"),
                (
                    "pull request url|pr url|pull request link|pr link",
                    "pull_request.html_url",
                ),
                ("pull request number|pr number", "pull_request.number"),
                ("pull request author|pr author", "pull_request.user.login"),
                ("merged", "pull_request.merged"),
                ("release name|release title", "release.name"),
                ("release notes|release body|changelog", "release.body"),
                ("release tag|tag|version|tag name", "release.tag_name"),
                ("release url|release link", "release.html_url"),
                ("action|event", "action"),
                ("sender|user", "sender.login"),
                ("star count|stars", "repository.stargazers_count"),
            ],
        ),
        "gitlabTrigger" => Shape(
            "body",
            Snake,
            "push pipeline merge request issue project gitlab",
            &[
                ("pipeline status|status|result", "object_attributes.status"),
                ("pipeline id|id", "object_attributes.id"),
                ("pipeline url|link|url", "object_attributes.url"),
                ("branch|ref|branch name", "object_attributes.ref"),
                (
                    "project|project name|repository",
                    "project.path_with_namespace",
                ),
                ("project url", "project.web_url"),
                ("commit message|message", "commit.message"),
                ("author|user|who", "user.name"),
                (
                    "title|merge request title|issue title",
                    "object_attributes.title",
                ),
                ("description", "object_attributes.description"),
                ("state|merge request state", "object_attributes.state"),
                ("action", "object_attributes.action"),
                ("target branch", "object_attributes.target_branch"),
            ],
        ),
        "shopifyTrigger" | "shopify" => Shape(
            "",
            Snake,
            "order shopify",
            &[
                ("order number|number|order name", "order_number"),
                ("order id|id", "id"),
                ("customer email|email|buyer email", "email"),
                (
                    "total|total price|order total|order value|amount|order amount",
                    "total_price",
                ),
                ("currency", "currency"),
                ("customer name|name|buyer", "customer.first_name"),
                ("first name", "customer.first_name"),
                ("last name", "customer.last_name"),
                ("customer phone|phone", "phone"),
                ("items|line items|products", "line_items"),
                ("created|order date|date", "created_at"),
                ("status|financial status|payment status", "financial_status"),
                ("fulfillment status", "fulfillment_status"),
                ("country|shipping country", "shipping_address.country"),
                ("city", "shipping_address.city"),
                ("address|shipping address", "shipping_address.address1"),
                ("tags", "tags"),
                ("note", "note"),
                ("title|product title|product name", "title"),
                ("stock|inventory", "inventory_quantity"),
            ],
        ),
        "wooCommerceTrigger" | "wooCommerce" => Shape(
            "",
            Snake,
            "order product woocommerce",
            &[
                ("order number|number", "number"),
                ("order id|id", "id"),
                ("status|order status", "status"),
                ("total|order total|amount", "total"),
                ("currency", "currency"),
                ("customer email|email", "billing.email"),
                ("customer phone|phone|phone number", "billing.phone"),
                ("customer name|first name|name", "billing.first_name"),
                ("last name", "billing.last_name"),
                ("country", "billing.country"),
                ("created|order date|date", "date_created"),
                ("items|line items", "line_items"),
                ("product name|title", "name"),
                ("stock|stock quantity", "stock_quantity"),
                ("price", "price"),
            ],
        ),
        "stripeTrigger:customer" => Shape(
            "data.object",
            Snake,
            "customer stripe",
            &[
                ("email|customer email|mail", "email"),
                ("name|customer name", "name"),
                ("phone|phone number", "phone"),
                ("description", "description"),
                ("id|customer id", "id"),
            ],
        ),
        "stripeTrigger" => Shape(
            "data.object",
            Snake,
            "payment charge invoice subscription customer stripe",
            &[
                ("amount|payment amount|charge amount", "amount"),
                ("amount paid|amount due|invoice amount", "amount_due"),
                ("currency", "currency"),
                ("customer email|email", "billing_details.email"),
                ("receipt email", "receipt_email"),
                ("customer name|name", "billing_details.name"),
                ("customer|customer id", "customer"),
                ("id|charge id|payment id|invoice id", "id"),
                (
                    "reason|failure reason|failure message|error",
                    "failure_message",
                ),
                ("status", "status"),
                ("created|date", "created"),
                ("receipt url|link", "receipt_url"),
                ("invoice|invoice number", "invoice"),
                ("description", "description"),
            ],
        ),
        "calendlyTrigger" => Shape(
            "payload",
            Snake,
            "invitee booking event meeting calendly",
            &[
                ("invitee name|name|guest name", "name"),
                ("invitee email|email|guest email", "email"),
                (
                    "start|start time|date|meeting time|event start",
                    "scheduled_event.start_time",
                ),
                ("end|end time", "scheduled_event.end_time"),
                (
                    "event name|event type|meeting name|title",
                    "scheduled_event.name",
                ),
                ("location", "scheduled_event.location.location"),
                ("cancel url", "cancel_url"),
                ("reschedule url", "reschedule_url"),
                ("timezone", "timezone"),
                ("answers|questions", "questions_and_answers"),
            ],
        ),
        "calTrigger" => Shape(
            "",
            Camel,
            "booking attendee meeting",
            &[
                ("attendee name|name|invitee name", "attendees[0].name"),
                ("attendee email|email|invitee email", "attendees[0].email"),
                ("start|start time|date", "startTime"),
                ("end|end time", "endTime"),
                ("title", "title"),
            ],
        ),
        "mailchimpTrigger" => Shape(
            "",
            Snake,
            "subscriber member contact mailchimp",
            &[
                ("email|email address|subscriber email", "['data[email]']"),
                ("first name|name|subscriber name", "['data[merges][FNAME]']"),
                ("last name", "['data[merges][LNAME]']"),
                (
                    "date|signup date|subscribed|sign up date|subscription date",
                    "fired_at",
                ),
                ("list|list id|audience", "['data[list_id]']"),
                ("id", "['data[id]']"),
                ("type|event", "type"),
            ],
        ),
        "typeformTrigger"
        | "jotFormTrigger"
        | "surveyMonkeyTrigger"
        | "formstackTrigger"
        | "formIoTrigger"
        | "wufooTrigger"
        | "tallyTrigger" => Shape("", AsSaid, "answer form response submission", &[]),
        "googleSheetsTrigger" | "googleSheets" | "microsoftExcel" => Shape(
            "",
            AsSaid,
            "row sheet spreadsheet line column",
            &[("row number", "row_number")],
        ),
        "airtableTrigger" => Shape("fields", AsSaid, "record row airtable", &[]),
        "airtable" => Shape(
            "",
            AsSaid,
            "record row airtable",
            &[("id|record id", "id"), ("created", "createdTime")],
        ),
        "notionTrigger" | "notion" => Shape(
            "",
            Snake,
            "page entry database notion",
            &[
                ("id|page id|entry id|page|entry", "id"),
                ("title|name|page title|entry title|topic", "name"),
                ("url|link|page url", "url"),
            ],
        ),
        "hubspotTrigger" => Shape(
            "",
            Camel,
            "contact deal company hubspot",
            &[
                ("id|contact id|object id|deal id|company id", "objectId"),
                (
                    "value|property value|stage|deal stage|lifecycle stage|new value|new stage",
                    "propertyValue",
                ),
                ("property|property name", "propertyName"),
            ],
        ),
        "telegramTrigger" => Shape(
            "message",
            Snake,
            "message chat telegram",
            &[
                ("text|message|message text|question", "text"),
                ("chat id|chat|same chat", "chat.id"),
                ("user id|sender id|from id", "from.id"),
                ("sender|sender name|first name|name", "from.first_name"),
                ("user name|username", "from.username"),
                (
                    "voice|voice message|voice file|voice file id",
                    "voice.file_id",
                ),
                ("photo|photo file id", "photo[0].file_id"),
                ("document|document file id", "document.file_id"),
                ("message id", "message_id"),
            ],
        ),
        "slackTrigger" => Shape(
            "",
            Snake,
            "message channel slack",
            &[
                ("text|message|message text", "text"),
                ("user|sender|author|user id", "user"),
                ("channel|channel id|chat id|chat", "channel"),
                ("ts|thread|timestamp", "ts"),
            ],
        ),
        "discord" | "mattermost" | "rocketchat" => Shape(
            "",
            Snake,
            "message",
            &[
                ("text|message", "content"),
                ("author|sender", "author.username"),
            ],
        ),
        "whatsAppTrigger" => Shape(
            "",
            Snake,
            "message whatsapp",
            &[
                ("text|message|message text", "messages[0].text.body"),
                (
                    "from|sender|phone|phone number|sender number",
                    "messages[0].from",
                ),
                ("name|sender name", "contacts[0].profile.name"),
                ("id|message id", "messages[0].id"),
            ],
        ),
        "chatTrigger" => Shape(
            "",
            Camel,
            "chat message question",
            &[
                ("text|message|question|chat input|input|prompt", "chatInput"),
                ("session|session id", "sessionId"),
            ],
        ),
        "zendeskTrigger" | "zendesk" => Shape(
            "",
            Snake,
            "ticket zendesk",
            &[
                ("id|ticket id|number|ticket number", "id"),
                ("subject|title|ticket subject", "subject"),
                ("description|text|body|message|ticket text", "description"),
                ("priority", "priority"),
                ("status", "status"),
                (
                    "requester email|customer email|email|requester",
                    "requester.email",
                ),
                ("requester name|customer name|name", "requester.name"),
                ("url|link|ticket url", "url"),
                ("created", "created_at"),
                ("tags", "tags"),
                ("assignee", "assignee_id"),
            ],
        ),
        "freshdesk" => Shape(
            "",
            Snake,
            "ticket freshdesk",
            &[
                ("id|ticket id|number|ticket number", "id"),
                ("subject|title", "subject"),
                ("description|text|body", "description_text"),
                ("priority", "priority"),
                ("status", "status"),
                ("created|age|created at|older", "created_at"),
                ("updated", "updated_at"),
                ("due|due by", "due_by"),
                (
                    "answer|first response|responded|first answer|reply",
                    "stats.first_responded_at",
                ),
                ("requester", "requester_id"),
            ],
        ),
        "googleCalendarTrigger" | "googleCalendar" => Shape(
            "",
            Camel,
            "event appointment meeting calendar",
            &[
                ("title|summary|name|event name|subject", "summary"),
                ("start|start time|date|begin", "start.dateTime"),
                ("end|end time", "end.dateTime"),
                ("description", "description"),
                ("location", "location"),
                ("link|url|event link", "htmlLink"),
                ("attendees|guests", "attendees"),
                ("organizer|organizer email", "organizer.email"),
                ("id|event id", "id"),
            ],
        ),
        "googleDriveTrigger" | "googleDrive" => Shape(
            "",
            Camel,
            "file drive document folder",
            &[
                ("name|file name|title", "name"),
                ("id|file id", "id"),
                ("link|url|file link|file url", "webViewLink"),
                ("type|mime type", "mimeType"),
                ("created", "createdTime"),
                ("modified|changed", "modifiedTime"),
                ("owner", "owners[0].emailAddress"),
            ],
        ),
        "dropbox" => Shape(
            "",
            Camel,
            "file folder",
            &[
                ("name|file name|title", "name"),
                ("path|file path", "pathDisplay"),
                ("id|file id", "id"),
                ("size", "contentSize"),
                ("type", "type"),
                ("modified|changed", "lastModifiedServer"),
            ],
        ),
        "ftp" => Shape(
            "",
            Camel,
            "file folder",
            &[
                ("name|file name|title", "name"),
                ("path|file path", "path"),
                ("size", "size"),
                ("type", "type"),
                ("modified|changed", "modifyTime"),
            ],
        ),
        "microsoftOneDrive"
        | "microsoftOneDriveTrigger"
        | "nextCloud"
        | "box"
        | "boxTrigger"
        | "googleCloudStorage" => Shape(
            "",
            Snake,
            "file folder",
            &[
                ("name|file name|title", "name"),
                ("path|file path", "path"),
                ("id|file id", "id"),
                ("size", "size"),
                ("type", "type"),
            ],
        ),
        "awsS3" | "s3" => Shape(
            "",
            Pascal,
            "file object bucket",
            &[
                ("name|key|file name|path", "Key"),
                ("size", "Size"),
                ("modified|date", "LastModified"),
            ],
        ),
        "rssFeedReadTrigger" | "rssFeedRead" => Shape(
            "",
            Camel,
            "article item post entry feed rss",
            &[
                ("title|headline", "title"),
                ("link|url", "link"),
                ("text|content|summary|description|snippet", "contentSnippet"),
                ("date|published", "isoDate"),
                ("author", "creator"),
                ("id|guid", "guid"),
            ],
        ),
        "jiraTrigger" => Shape(
            "issue",
            Camel,
            "issue ticket bug jira",
            &[
                ("key|issue key|number|ticket number|id", "key"),
                ("title|summary|subject", "fields.summary"),
                ("description|text", "fields.description"),
                ("status", "fields.status.name"),
                ("priority", "fields.priority.name"),
                ("assignee", "fields.assignee.displayName"),
                ("reporter|author", "fields.reporter.displayName"),
                ("type|issue type", "fields.issuetype.name"),
                ("project", "fields.project.key"),
                ("url|link", "self"),
            ],
        ),
        "jira" => Shape(
            "",
            Camel,
            "issue ticket bug jira",
            &[
                ("key|issue key|number|id", "key"),
                ("title|summary|subject", "fields.summary"),
                ("description|text", "fields.description"),
                ("status", "fields.status.name"),
                ("priority", "fields.priority.name"),
                ("assignee", "fields.assignee.displayName"),
                ("url|link", "self"),
            ],
        ),
        "linearTrigger" => Shape(
            "data",
            Camel,
            "issue linear",
            &[
                ("title", "title"),
                ("description|text", "description"),
                ("status|state", "state.name"),
                ("id|identifier", "identifier"),
                ("priority", "priority"),
                ("assignee", "assignee.name"),
                ("team", "team.name"),
                ("url|link", "url"),
            ],
        ),
        "trelloTrigger" => Shape(
            "action.data",
            Camel,
            "card list board trello",
            &[
                ("name|card name|title|card", "card.name"),
                ("id|card id", "card.id"),
                ("list|list name", "list.name"),
                ("board", "board.name"),
                ("new list|list after", "listAfter.name"),
                ("short link|link|url", "card.shortLink"),
            ],
        ),
        "pipedriveTrigger" => Shape(
            "data",
            Snake,
            "deal person organization pipedrive",
            &[
                ("title|name|deal|deal title|deal name", "title"),
                ("value|amount|deal value", "value"),
                ("currency", "currency"),
                ("status", "status"),
                ("stage", "stage_id"),
                ("id", "id"),
                ("owner", "owner_id"),
            ],
        ),
        "pipedrive" => Shape(
            "",
            Snake,
            "deal person organization pipedrive",
            &[
                ("title|name", "title"),
                ("value|amount", "value"),
                ("id", "id"),
                ("status", "status"),
            ],
        ),
        "salesforceTrigger" | "salesforce" => Shape(
            "",
            Pascal,
            "lead opportunity account contact salesforce",
            &[
                ("name|opportunity name|account name", "Name"),
                ("email", "Email"),
                ("owner email|owner mail|email owner", "Owner.Email"),
                ("owner|owner id|sales rep", "OwnerId"),
                ("owner name", "Owner.Name"),
                ("amount|value", "Amount"),
                ("stage", "StageName"),
                ("close date", "CloseDate"),
                (
                    "last activity|activity|last activity date",
                    "LastActivityDate",
                ),
                ("company", "Company"),
                ("id", "Id"),
                ("status", "Status"),
                ("created", "CreatedDate"),
            ],
        ),
        "xero" => Shape(
            "",
            Pascal,
            "invoice contact xero",
            &[
                ("number|invoice number", "InvoiceNumber"),
                ("id|invoice id", "InvoiceID"),
                ("customer|contact|contact name|name", "Contact.Name"),
                ("due|due date", "DueDate"),
                ("date", "Date"),
                ("amount due|open amount|outstanding|amount", "AmountDue"),
                ("total", "Total"),
                ("status", "Status"),
                ("currency", "CurrencyCode"),
            ],
        ),
        "quickbooks" => Shape(
            "",
            Pascal,
            "invoice bill customer quickbooks",
            &[
                ("number|invoice number", "DocNumber"),
                ("id", "Id"),
                ("customer|customer name", "CustomerRef.name"),
                ("amount|total", "TotalAmt"),
                ("balance|open amount", "Balance"),
                ("due|due date", "DueDate"),
                ("email|customer email", "BillEmail.Address"),
            ],
        ),
        "okta" => Shape(
            "",
            Camel,
            "user okta",
            &[
                ("status", "status"),
                ("email|mail", "profile.email"),
                ("login|user name", "profile.login"),
                ("first name", "profile.firstName"),
                ("last name", "profile.lastName"),
                ("name", "profile.firstName"),
                ("id", "id"),
                ("last login", "lastLogin"),
                ("created", "created"),
            ],
        ),
        "todoist" => Shape(
            "",
            Snake,
            "task todo todoist",
            &[
                ("title|name|content|text|task", "content"),
                ("due|due date|date", "due.date"),
                ("priority", "priority"),
                ("id", "id"),
                ("link|url", "url"),
                ("description", "description"),
            ],
        ),
        "twitter" => Shape(
            "",
            Snake,
            "tweet post",
            &[
                ("text|tweet|content|tweet text", "text"),
                ("id|tweet id", "id"),
                ("author|user", "author_id"),
                ("created|date", "created_at"),
            ],
        ),
        "github" => Shape(
            "",
            Snake,
            "repository issue repo release pull request github",
            &[
                ("name|repo name|repository name", "name"),
                ("repository|repo|full name", "full_name"),
                ("url|link", "html_url"),
                ("title|issue title", "title"),
                ("text|body|description", "body"),
                ("number|issue number", "number"),
                ("created", "created_at"),
                ("updated", "updated_at"),
                ("author|user", "user.login"),
                ("state|status", "state"),
                ("labels", "labels"),
            ],
        ),
        "asanaTrigger" | "asana" => Shape(
            "",
            Snake,
            "task asana",
            &[
                ("name|title|task|task name", "name"),
                ("id", "gid"),
                ("description|notes", "notes"),
                ("due|due date", "due_on"),
                ("assignee", "assignee.name"),
                ("link|url", "permalink_url"),
            ],
        ),
        "clickUpTrigger" | "clickUp" => Shape(
            "",
            Snake,
            "task clickup",
            &[
                ("id|task id", "id"),
                ("name|title|task|task name", "name"),
                ("status", "status.status"),
                ("link|url", "url"),
                ("due|due date", "due_date"),
            ],
        ),
        "mondayCom" => Shape(
            "",
            Snake,
            "item board",
            &[("name|title", "name"), ("id", "id")],
        ),
        "intercomTrigger" => Shape(
            "data.item",
            Snake,
            "conversation contact intercom",
            &[
                ("email", "user.email"),
                ("name", "user.name"),
                ("text|message|body", "source.body"),
                ("id", "id"),
            ],
        ),
        "facebookLeadAdsTrigger" => Shape(
            "data",
            AsSaid,
            "lead facebook",
            &[
                ("email", "email"),
                ("name|full name", "full_name"),
                ("phone|phone number", "phone_number"),
            ],
        ),
        "pagerDuty" => Shape(
            "",
            Snake,
            "incident",
            &[
                ("title|summary", "title"),
                ("id", "id"),
                ("status", "status"),
                ("urgency", "urgency"),
                ("link|url", "html_url"),
            ],
        ),
        "openWeatherMap" => Shape(
            "",
            Snake,
            "weather forecast temperature",
            &[
                ("temperature|temp", "main.temp"),
                ("description|conditions|weather", "weather[0].description"),
                ("humidity", "main.humidity"),
                ("wind|wind speed", "wind.speed"),
                ("rain", "rain['1h']"),
                ("city|name", "name"),
            ],
        ),
        "youTube" | "youtube" => Shape(
            "snippet",
            Camel,
            "video youtube",
            &[
                ("title", "title"),
                ("description", "description"),
                ("published|date", "publishedAt"),
                ("channel", "channelTitle"),
            ],
        ),
        "hackerNews" => Shape(
            "",
            Snake,
            "article story post hacker news",
            &[
                ("title|headline", "title"),
                ("link|url", "url"),
                ("points|score", "points"),
                ("author", "author"),
            ],
        ),
        "errorTrigger" => Shape(
            "",
            Camel,
            "error workflow execution",
            &[
                (
                    "error|error message|message|what failed|reason",
                    "execution.error.message",
                ),
                ("workflow|workflow name|name", "workflow.name"),
                ("link|url|execution link|execution url", "execution.url"),
                ("execution id|id", "execution.id"),
                (
                    "node|last node|failed node|node name|failed node name|node failed name|step",
                    "execution.lastNodeExecuted",
                ),
            ],
        ),
        "kafkaTrigger" | "rabbitmqTrigger" | "mqttTrigger" | "amqpTrigger" | "redisTrigger" => {
            Shape("message", Snake, "message", &[("message|text", "")])
        }
        "googleAnalytics" => Shape(
            "",
            Camel,
            "report analytics",
            &[
                ("date", "date"),
                ("sessions", "sessions"),
                ("conversions", "conversions"),
                ("users", "totalUsers"),
                ("page views", "screenPageViews"),
            ],
        ),
        "linkedIn" | "facebookGraphApi" => {
            Shape("", Snake, "post", &[("id", "id"), ("link|url", "url")])
        }
        "wordpress" => Shape(
            "",
            Snake,
            "post article draft wordpress",
            &[
                ("id|post id", "id"),
                ("link|url|post url", "link"),
                ("title", "title.rendered"),
                ("text|content", "content.rendered"),
            ],
        ),
        "serviceNow" => Shape(
            "",
            Snake,
            "incident ticket",
            &[
                ("number", "number"),
                ("title|short description|summary", "short_description"),
                ("id", "sys_id"),
                ("priority", "priority"),
                ("state|status", "state"),
            ],
        ),
        "bambooHr" | "bambooHrTrigger" | "personio" => Shape(
            "",
            Camel,
            "employee",
            &[
                ("email|mail", "workEmail"),
                ("first name", "firstName"),
                ("last name", "lastName"),
                ("name", "displayName"),
                ("department", "department"),
                ("start date|hire date", "hireDate"),
            ],
        ),
        "sentryIo" | "sentryIoTrigger" => Shape(
            "",
            Camel,
            "issue error event sentry",
            &[
                ("title", "title"),
                ("link|url", "permalink"),
                ("level", "level"),
                ("project", "project.slug"),
                ("id", "id"),
                ("count|events", "count"),
            ],
        ),
        "microsoftTeamsTrigger" | "microsoftTeams" => Shape(
            "",
            Camel,
            "message team channel",
            &[
                ("text|message", "body.content"),
                ("sender|author", "from.user.displayName"),
                ("id", "id"),
            ],
        ),
        "postgres" | "mySql" | "microsoftSql" | "snowflake" | "googleBigQuery" | "mongoDb"
        | "supabase" | "crateDb" | "questDb" | "timescaleDb" | "oracleDatabase"
        | "postgresTrigger" => Shape("", Snake, "row record", &[]),
        _ => return None,
    })
}

/// What a GitHub event is about, by the event's name: its own words come before those of all events.
fn github_shape(kind: &str) -> &'static [Row] {
    match kind {
        "pull_request" => &[
            ("title|name", "pull_request.title"),
            (
                "author|user|creator|opener|who opened|username",
                "pull_request.user.login",
            ),
            ("body|description|text", "pull_request.body"),
            ("url|link|html url", "pull_request.html_url"),
            ("number|id", "pull_request.number"),
            ("state|status", "pull_request.state"),
            ("branch|head branch|source branch", "pull_request.head.ref"),
            ("base branch|target branch|base", "pull_request.base.ref"),
            (
                "labels|label",
                "pull_request.labels.map((label) => label.name).join(', ')",
            ),
        ],
        "issues" => &[
            ("title|name", "issue.title"),
            (
                "author|user|creator|opener|reporter|who opened|username",
                "issue.user.login",
            ),
            ("body|description|text", "issue.body"),
            ("url|link|html url", "issue.html_url"),
            ("number|id", "issue.number"),
            ("state|status", "issue.state"),
            (
                "labels|label",
                "issue.labels.map((label) => label.name).join(', ')",
            ),
        ],
        "issue_comment" => &[
            (
                "comment|text|body|message|comment text|comment body",
                "comment.body",
            ),
            (
                "author|user|commenter|who commented|username",
                "comment.user.login",
            ),
            ("url|link|comment url|comment link", "comment.html_url"),
        ],
        "release" => &[
            ("name|title", "release.name"),
            ("author|user|publisher", "release.author.login"),
            ("url|link", "release.html_url"),
            ("body|description|notes|text", "release.body"),
        ],
        "fork" => &[
            ("fork|fork name|name", "forkee.full_name"),
            ("url|link", "forkee.html_url"),
            ("author|user|who forked|username", "sender.login"),
        ],
        "watch" => &[("author|user|stargazer|who starred|username", "sender.login")],
        _ => &[],
    }
}

/// What a GitHub trigger that listens to these events gives.
pub(super) fn github_origin(node_type: &str, object: &str, kind: &str) -> Origin {
    let mut origin = origin_of(node_type, object);
    let own = github_shape(kind);
    let said_there = |said: &str| {
        let taken = |s: &str| {
            own.iter()
                .any(|(words, _)| words.split('|').any(|w| w == s))
        };
        said.split('|')
            .filter(|s| !taken(s))
            .collect::<Vec<_>>()
            .join("|")
    };
    let rest = std::mem::take(&mut origin.fields);
    let rest = rest
        .into_iter()
        .map(|(said, path)| (said_there(&said), path));
    origin.fields = own
        .iter()
        .map(|(said, path)| ((*said).to_owned(), (*path).to_owned()))
        .chain(rest.filter(|(said, _)| !said.is_empty()))
        .collect();
    origin
}

/// The origin of a trigger's or a reading service's items. `object` = what the user calls an item.
pub(super) fn origin_of(node_type: &str, object: &str) -> Origin {
    let short = short_type(node_type);
    let mut origin = Origin::default();
    let own = trigger_shape(&format!("{short}:{object}")).or_else(|| trigger_shape(short));
    // what an action lists is the bare object, without the envelope of the trigger's event
    let bare = own.is_none();
    match own.or_else(|| trigger_shape(&format!("{short}Trigger"))) {
        Some(Shape(base, spelling, about, fields)) => {
            origin.base = if bare { String::new() } else { base.to_owned() };
            origin.spelling = spelling;
            origin.of_service = spelling != AsSaid && base != "body";
            origin.about = words(about);
            origin.fields = fields
                .iter()
                .filter(|(_, path)| {
                    !bare
                        || ![
                            "action.",
                            "current.",
                            "data.",
                            "body.",
                            "payload.",
                            "event.",
                            "object_attributes.",
                        ]
                        .iter()
                        .any(|envelope| path.starts_with(envelope))
                })
                .map(|(said, path)| ((*said).to_owned(), (*path).to_owned()))
                .collect();
        }
        None => origin.spelling = Snake,
    }
    origin.about(object)
}

/// What an acting step (create, send) answers with: the new object's id and link, where the table knows them.
pub(super) fn answer_of(node_type: &str, object: &str) -> Origin {
    let short = short_type(node_type);
    let known = origin_of(node_type, object);
    let mut origin = Origin {
        spelling: known.spelling,
        about: words(object),
        acting: true,
        ..Origin::default()
    };
    let id = match short {
        "salesforce" => "id",
        "slack" => "ts",
        "telegram" => "result.message_id",
        "quickbooks" => "Id",
        "asana" => "gid",
        "googleDrive" | "gmail" | "hubspot" | "linear" | "zendesk" | "notion" | "wordpress" => "id",
        _ => "id",
    };
    for (said, path) in known.fields {
        let keep = said
            .split('|')
            .any(|s| matches!(s, "id" | "key" | "link" | "url" | "number"));
        if keep {
            origin.fields.push((said, path));
        }
    }
    // A mail that was sent is another one than the mail at hand.
    if super::message::is_mail(short) {
        origin.fields.clear();
        return origin;
    }
    origin
        .fields
        .push((format!("id|{object} id"), id.to_owned()));
    origin
}
