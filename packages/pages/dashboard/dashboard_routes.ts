import {
  type BoundRoute,
  makeStaticDocument,
  onceMade,
  type Router,
  withHeaders,
} from "@accountlink/http/for_pages";
import { Effect } from "effect";
import { accountRoutes } from "./account/account_routes.ts";
import { altPages, newAltsRoutes } from "./alts/alts_routes.ts";
import { auditRoutes } from "./audit/audit_routes.ts";
import { blocksRoutes } from "./blocks/blocks_routes.ts";
import { channelsRoutes } from "./channels/channels_routes.ts";
import { communitiesRoutes } from "./communities/communities_routes.ts";
import { previewRoutes } from "./communities/flow_preview.ts";
import { eventsRoutes } from "./events/events_routes.ts";
import { importRoutes } from "./imports/import_routes.ts";
import { keyRoutes } from "./keys/key_routes.ts";
import { tryLookupRoutes } from "./keys/try_lookup.ts";
import { linksRoutes } from "./links/links_routes.ts";
import { unlinkedRoutes } from "./links/unlinked_routes.ts";
import { script } from "./look/script.ts";
import { style } from "./look/style.ts";
import { teamRoutes } from "./members/team_routes.ts";
import { overviewRoutes } from "./overview/overview_routes.ts";
import { makeOwnerPages } from "./owner_pages.ts";
import { paths } from "./paths.ts";
import { rolesRoutes } from "./roles/roles_routes.ts";
import { usageRoutes } from "./usage/usage_routes.ts";
import { webhookRoutes } from "./webhooks/webhook_routes.ts";

/** @param makeLookups makes the lookup routes for the page "Try it"; called only when an owner tries a lookup */
export const dashboardRoutes = Effect.fnUntraced(function* (makeLookups: () => Router) {
  const pages = yield* makeOwnerPages;
  const routes = [
    ...pages.routes,
    ...staticRoutes(),
    ...(yield* overviewRoutes(pages)),
    ...(yield* communitiesRoutes(pages)),
    ...(yield* rolesRoutes(pages)),
    ...(yield* channelsRoutes(pages)),
    ...(yield* linksRoutes(pages)),
    ...(yield* unlinkedRoutes(pages)),
    ...(yield* blocksRoutes(pages)),
    ...(yield* importRoutes(pages)),
    ...(yield* keyRoutes(pages)),
    ...(yield* webhookRoutes(pages)),
    ...(yield* usageRoutes(pages)),
    ...(yield* altPages(pages)),
    ...(yield* newAltsRoutes(pages)),
    ...(yield* eventsRoutes(pages)),
    ...(yield* auditRoutes(pages)),
    ...(yield* tryLookupRoutes(pages, makeLookups)),
    ...(yield* previewRoutes(pages)),
    ...(yield* teamRoutes(pages)),
    ...(yield* accountRoutes(pages)),
  ];
  return { routes, keylessAnswer: pages.keylessAnswer };
});

/** Requests for the style and the script are not counted: the page for an exceeded limit needs its style. */
const staticRoutes = (): ReadonlyArray<BoundRoute> => [
  route(paths.style, style, "text/css"),
  route(paths.script, script, "text/javascript"),
];

const route = (path: `/${string}`, text: string, type: string): BoundRoute => {
  const document = onceMade(() => makeStaticDocument(text, { contentType: `${type}; charset=utf-8` }));
  const answer = withHeaders("dashboard", (request) =>
    Effect.map(
      Effect.promise(() => document(path)),
      (answerTo) => answerTo(request),
    ),
  );
  return { method: "GET", path, answer };
};
