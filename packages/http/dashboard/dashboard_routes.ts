/**
 * The pages of the dashboard.
 */
import { html } from "@accountlink/html";
import { Effect } from "effect";
import type { BoundRoute } from "../pipeline/pipeline.ts";
import { accountApi } from "./account_api.ts";
import { activityApi } from "./activity_api.ts";
import { keysApi } from "./keys_api.ts";
import { makeOwnerPages } from "./owner_pages.ts";

export const dashboardRoutes = Effect.gen(function* () {
  const { page, render, routes: signIn, visit } = yield* makeOwnerPages;

  const routes: ReadonlyArray<BoundRoute> = [
    ...signIn,
    ...(yield* accountApi),
    ...(yield* keysApi),
    ...(yield* activityApi),
    page("/dashboard", ({ context, csrf }) =>
      Effect.succeed(
        render(
          {
            status: 200,
            title: "Dashboard",
            content: html`
<h1>Dashboard</h1>
<form method="post" action="/dashboard/sign-out"><input type="hidden" name="csrf" value="${csrf}"><button>Sign out</button></form>`,
          },
          context,
        ),
      ),
    ),
  ];
  return { routes, visit };
});
