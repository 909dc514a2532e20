/** The routes of the dashboard: its pages and its JSON. */
import { Effect } from "effect";
import type { Router } from "../router.ts";
import { accountApi } from "./account_api.ts";
import { accountRoutes } from "./account_routes.ts";
import { activityApi } from "./activity_api.ts";
import { altPages } from "./alt_pages.ts";
import { auditRoutes } from "./audit_routes.ts";
import { communitiesApi } from "./communities_api.ts";
import { communitiesRoutes } from "./communities_routes.ts";
import { eventsRoutes } from "./events_routes.ts";
import { importRoutes } from "./import_routes.ts";
import { keyRoutes } from "./key_routes.ts";
import { keysApi } from "./keys_api.ts";
import { linksRoutes } from "./links_routes.ts";
import { membersApi } from "./members_api.ts";
import { overviewRoutes } from "./overview_routes.ts";
import { makeOwnerPages } from "./owner_pages.ts";
import { previewRoutes } from "./preview_routes.ts";
import { staticRoutes } from "./static_routes.ts";
import { trialRoutes } from "./trial_routes.ts";
import { usageRoutes } from "./usage_routes.ts";
import { webhookRoutes } from "./webhook_routes.ts";
import { webhooksApi } from "./webhooks_api.ts";

/** @param makeLookups makes what answers the lookups that owners try, which few do */
export const dashboardRoutes = Effect.fnUntraced(function* (makeLookups: () => Router) {
  const pages = yield* makeOwnerPages;
  const routes = [
    ...pages.routes,
    ...(yield* accountApi),
    ...(yield* membersApi),
    ...(yield* keysApi),
    ...(yield* webhooksApi),
    ...(yield* activityApi),
    ...(yield* communitiesApi),
    ...staticRoutes(),
    ...(yield* overviewRoutes(pages)),
    ...(yield* communitiesRoutes(pages)),
    ...(yield* linksRoutes(pages)),
    ...(yield* importRoutes(pages)),
    ...(yield* keyRoutes(pages)),
    ...(yield* webhookRoutes(pages)),
    ...(yield* usageRoutes(pages)),
    ...(yield* altPages(pages)),
    ...(yield* eventsRoutes(pages)),
    ...(yield* auditRoutes(pages)),
    ...(yield* trialRoutes(pages, makeLookups)),
    ...(yield* previewRoutes(pages)),
    ...(yield* accountRoutes(pages)),
  ];
  return { routes, visit: pages.visit };
});
