import { OwnedKeys } from "@accountlink/core";
import { InvalidParameter } from "@accountlink/core/errors";
import type { KeyDetails } from "@accountlink/core/keys";
import type { BoundRoute, HttpResponse } from "@accountlink/http/for_pages";
import { Effect } from "effect";
import type { SiteError } from "../../sign_ins/refusals.ts";
import { type NoticeName } from "../look/notice.ts";
import { type Fields, type OwnerPages, type OwnerVisitor, seeOther } from "../owner_pages.ts";
import { type Page } from "../page.ts";
import { type KeyAct, keyActPath, keyPath, paths, withQuery } from "../paths.ts";
import { rulesOf } from "./key_form.ts";
import { graceOf, newKeyOf, statusOf, typedKey, typedRules, updateOf } from "./key_forms.ts";
import { formErrors, type KeyFormError, refusalOf } from "./key_refusals.ts";
import { makeKeyViews } from "./key_views.ts";
import { emptyKeyForm } from "./new_key_page.ts";

type Answered = Page | HttpResponse;

export const keyRoutes = Effect.fnUntraced(function* ({ page, form }: OwnerPages) {
  const keys = yield* OwnedKeys;
  const views = yield* makeKeyViews;
  const keyOf = ({ owner, context }: OwnerVisitor) => keys.find(owner.account, String(context.query["id"]));

  const create = Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields) {
    const { key, token } = yield* keys.create(visitor.owner, yield* newKeyOf(typedKey(fields)));
    return yield* views.issued(visitor, key, token, true);
  });

  /** Makes the route of a form on the page of a key. If the form is refused, the page shows it with the reason. */
  const act = (
    name: KeyAct,
    answer: (visitor: OwnerVisitor, key: KeyDetails, fields: Fields) => Effect.Effect<Answered, SiteError>,
  ) =>
    form(keyActPath(":id", name), (visitor, fields) =>
      Effect.flatMap(keyOf(visitor), (key) => {
        const rules = name === "update" ? typedRules(fields) : rulesOf(key);
        const refuse = (error: KeyFormError) =>
          views.one(visitor, key, rules, "", { act: name, ...refusalOf(error) });
        return answer(visitor, key, fields).pipe(
          Effect.catchTag(["MissingParameter", "InvalidParameter", "InvalidBody", "Conflict"], refuse),
        );
      }),
    );

  const update = Effect.fnUntraced(function* ({ owner }: OwnerVisitor, key: KeyDetails, fields: Fields) {
    yield* keys.update(owner, key.id, yield* updateOf(key, typedRules(fields)));
    return seeKey(key, "updated");
  });

  const setStatus = Effect.fnUntraced(function* ({ owner }: OwnerVisitor, key: KeyDetails, fields: Fields) {
    const status = yield* statusOf(fields, ["active", "disabled"]);
    yield* keys.update(owner, key.id, { status });
    return seeKey(key, status === "active" ? "enabled" : "disabled");
  });

  const rotate = Effect.fnUntraced(function* (visitor: OwnerVisitor, { id }: KeyDetails, fields: Fields) {
    const grace = yield* graceOf(id, fields);
    const { key, token } = yield* keys.rotate(visitor.owner, id, grace);
    return yield* views.issued(visitor, key, token, false);
  });

  const revoke = Effect.fnUntraced(function* ({ owner }: OwnerVisitor, key: KeyDetails, fields: Fields) {
    if (fields("confirm").trim() !== key.id) {
      return yield* InvalidParameter.one("confirm", `expected ${key.id}`);
    }
    yield* keys.revoke(owner, key.id);
    return seeKey(key, "revoked");
  });

  const routes: ReadonlyArray<BoundRoute> = [
    page(paths.keys, views.list),
    page(paths.newKey, (visitor, query) =>
      views.blank(visitor, { ...emptyKeyForm, guildId: query("guildId") }, null),
    ),
    form(paths.keys, (visitor, fields) => {
      const refuse = (error: KeyFormError) => views.blank(visitor, typedKey(fields), refusalOf(error));
      return Effect.catchTag(create(visitor, fields), formErrors, refuse);
    }),
    page(keyPath(":id"), (visitor, query) =>
      Effect.flatMap(keyOf(visitor), (key) => views.one(visitor, key, rulesOf(key), query("done"), null)),
    ),
    act("update", update),
    act("status", setStatus),
    act("rotate", rotate),
    act("revoke", revoke),
  ];
  return routes;
});

const seeKey = ({ id }: KeyDetails, done: NoticeName) => seeOther(withQuery(keyPath(id), { done }));
