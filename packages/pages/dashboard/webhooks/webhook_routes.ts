import { InvalidParameter } from "@accountlink/core/errors";
import { originOf } from "@accountlink/core/keys";
import {
  type DeliveryStatus,
  type WebhookDelivery,
  type WebhookDetails,
  Webhooks,
} from "@accountlink/core/webhooks";
import type { BoundRoute, HttpResponse } from "@accountlink/http/for_pages";
import { Effect } from "effect";
import type { SiteError } from "../../sign_ins/refusals.ts";
import { statusOf } from "../keys/key_forms.ts";
import { formErrors, type KeyFormError, refusalOf } from "../keys/key_refusals.ts";
import { type Refused } from "../keys/new_key_page.ts";
import { type NoticeName, noticeHtml } from "../look/notice.ts";
import {
  type Fields,
  makeGuildChoice,
  namedGuilds,
  type OwnerPages,
  type OwnerVisitor,
  seeOther,
} from "../owner_pages.ts";
import { type Page } from "../page.ts";
import { deliveryPath, paths, type WebhookAct, webhookActPath, webhookPath, withQuery } from "../paths.ts";
import { deliveryPage } from "./delivery_page.ts";
import { issuedWebhookPage } from "./issued_webhook_page.ts";
import { newWebhookPage } from "./new_webhook_page.ts";
import { makeCreateWebhook } from "./webhook_changes.ts";
import { emptyWebhookForm, formOfWebhook, type NewWebhookForm, type WebhookForm } from "./webhook_form.ts";
import { newWebhookOf, typedNewWebhook, typedWebhook, webhookUpdateOf } from "./webhook_forms.ts";
import { type RefusedWebhookAct, webhookPage } from "./webhook_page.ts";
import { webhooksPage } from "./webhooks_page.ts";

const pageSize = 25;

type Answered = Page | HttpResponse;

export const webhookRoutes = Effect.fnUntraced(function* ({ page, form }: OwnerPages) {
  const webhooks = yield* Webhooks;
  const views = yield* makeViews;
  const createWebhook = yield* makeCreateWebhook;

  const webhookOf = ({ owner, context }: OwnerVisitor) =>
    webhooks.find(owner.account.name, String(context.query["id"]));

  const create = Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields) {
    const values = yield* newWebhookOf(typedNewWebhook(fields));
    const issued = yield* createWebhook(visitor.owner, values);
    return issuedWebhookPage({ ...issued, isNew: true });
  });

  /**
   * Makes the route of a form on a webhook's page. If the values of the form are refused, the page shows the form
   * again.
   */
  const act = (
    name: WebhookAct,
    answer: (
      visitor: OwnerVisitor,
      webhook: WebhookDetails,
      fields: Fields,
    ) => Effect.Effect<Answered, SiteError>,
  ) =>
    form(webhookActPath(":id", name), (visitor, fields) =>
      Effect.flatMap(webhookOf(visitor), (webhook) => {
        const typed = name === "update" ? typedWebhook(fields) : formOfWebhook(webhook);
        const refuse = (error: KeyFormError) =>
          views.one(visitor, webhook, typed, () => "", { act: name, ...refusalOf(error) });
        const wrongValues = ["MissingParameter", "InvalidParameter", "InvalidBody", "Conflict"] as const;
        return Effect.catchTag(answer(visitor, webhook, fields), wrongValues, refuse);
      }),
    );

  const routes: ReadonlyArray<BoundRoute> = [
    page(paths.webhooks, views.list),
    page(paths.newWebhook, (visitor) => views.blank(visitor, emptyWebhookForm, null)),
    form(paths.webhooks, (visitor, fields) => {
      const refuse = (error: KeyFormError) => views.blank(visitor, typedNewWebhook(fields), refusalOf(error));
      return Effect.catchTag(create(visitor, fields), formErrors, refuse);
    }),
    page(webhookPath(":id"), (visitor, query) =>
      Effect.flatMap(webhookOf(visitor), (webhook) =>
        views.one(visitor, webhook, formOfWebhook(webhook), query, null),
      ),
    ),

    page(
      deliveryPath(":id", ":eventId"),
      Effect.fnUntraced(function* (visitor) {
        const webhook = yield* webhookOf(visitor);
        const eventId = String(visitor.context.query["eventId"]);
        const sent = yield* webhooks.sent(visitor.owner.account.name, webhook.id, eventId);
        return deliveryPage(webhook, sent);
      }),
    ),

    act(
      "update",
      Effect.fnUntraced(function* ({ owner }, { id }, fields) {
        const update = yield* webhookUpdateOf(id, typedWebhook(fields));
        yield* webhooks.update(owner.account.name, id, update, originOf(owner));
        return seeWebhook(id, "webhookUpdated");
      }),
    ),

    act(
      "status",
      Effect.fnUntraced(function* ({ owner }, { id }, fields) {
        const status = yield* statusOf(fields, ["active", "paused"]);
        yield* webhooks.update(owner.account.name, id, { status }, originOf(owner));
        return seeWebhook(id, status === "active" ? "resumed" : "paused");
      }),
    ),

    act("test", ({ owner }, { id }) =>
      Effect.map(webhooks.test(owner.account.name, id, originOf(owner)), (delivery) =>
        seeWebhook(id, sentNotice(delivery)),
      ),
    ),

    act("send-pending", ({ owner }, { id }) =>
      Effect.as(webhooks.sendPending(owner.account.name, id), seeWebhook(id, "pendingSent")),
    ),

    act("resend", ({ owner }, { id }, fields) =>
      Effect.map(webhooks.resend(owner.account.name, id, fields("eventId"), originOf(owner)), (delivery) =>
        seeWebhook(id, sentNotice(delivery)),
      ),
    ),

    act("rotate", ({ owner }, { id }) =>
      Effect.map(webhooks.rotate(owner.account.name, id, originOf(owner)), (issued) =>
        issuedWebhookPage({ ...issued, isNew: false }),
      ),
    ),

    act(
      "delete",
      Effect.fnUntraced(function* ({ owner }, { id }, fields) {
        if (fields("confirm") !== "true") {
          return yield* InvalidParameter.one("confirm", "tick the box to delete it");
        }
        yield* webhooks.remove(owner.account.name, id, originOf(owner));
        return seeOther(withQuery(paths.webhooks, { done: "deleted" }));
      }),
    ),
  ];
  return routes;
});

const seeWebhook = (id: WebhookDetails["id"], done: NoticeName) =>
  seeOther(withQuery(webhookPath(id), { done }));

const sentNotice = ({ error }: WebhookDelivery): NoticeName => (error === null ? "sent" : "notSent");

const makeViews = Effect.gen(function* () {
  const webhooks = yield* Webhooks;
  const guildsOf = yield* makeGuildChoice;

  return {
    list: Effect.fnUntraced(function* (visitor: OwnerVisitor, query: Fields) {
      const list = {
        webhooks: yield* webhooks.list(visitor.owner.account.name),
        guilds: namedGuilds(visitor),
      };
      return webhooksPage(list, noticeHtml(query("done")));
    }),

    /** @param refused why the submitted form was refused; null for a new form */
    blank: (visitor: OwnerVisitor, typed: NewWebhookForm, refused: Refused | null) =>
      Effect.map(guildsOf(visitor), (choice) => newWebhookPage(typed, choice, refused)),

    /** @param refused the form that was refused, and why; null if none was refused */
    one: Effect.fnUntraced(function* (
      visitor: OwnerVisitor,
      webhook: WebhookDetails,
      typed: WebhookForm,
      query: (name: string) => string,
      refused: RefusedWebhookAct | null,
    ) {
      const filter = statuses.find((status) => status === query("status")) ?? null;
      const before = query("cursor") === "" ? null : query("cursor");
      const { name } = visitor.owner.account;
      const found = yield* webhooks.deliveries(name, webhook.id, { status: filter, before, limit: pageSize });
      const view = { webhook, guilds: namedGuilds(visitor), filter, ...found };
      return webhookPage(view, typed, noticeHtml(query("done")), refused);
    }),
  };
});

const statuses: ReadonlyArray<DeliveryStatus> = ["delivered", "failing", "given_up"];
