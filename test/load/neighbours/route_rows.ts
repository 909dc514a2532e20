/** The dearest request to each route, which the test of neighbours sends as often as it can. */
import { apiRows, dashboardRows } from "./api_rows.ts";
import { flowRows, pageRows } from "./page_rows.ts";
import { type RouteRow, row, withPlan } from "./row.ts";
import { dearestRules, oneEachGuild } from "./world.ts";

export const routeRows: Readonly<Record<string, RouteRow>> = {
  ...apiRows,
  ...dashboardRows,
  ...flowRows,
  ...pageRows,
};

/** Further requests to routes, by route and case. */
export const caseRows: Readonly<Record<string, RouteRow>> = {
  "POST /dashboard/api/roles/preview, of one member": row(
    200,
    withPlan({ chatId: "300001", rules: dearestRules }),
  ),
  "PATCH /v2/game, where another has the account": row(
    409,
    { chatId: "500001", gameId: "1", guildId: oneEachGuild },
    { key: "attackersOneEach" },
  ),
  "GET /verify, which offers to move the link": row(200, ({ oneEachPid: pid }) => ({ pid }), {
    site: "taken",
  }),
};
