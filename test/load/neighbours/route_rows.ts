/** The dearest request to each route, which the test of neighbours sends as often as it can. */
import { apiRows, dashboardRows } from "./api_rows.ts";
import { flowRows, pageRows } from "./page_rows.ts";
import { type RouteRow, row } from "./row.ts";
import { oneEachGuild } from "./world.ts";

export const routeRows: Readonly<Record<string, RouteRow>> = {
  ...apiRows,
  ...dashboardRows,
  ...flowRows,
  ...pageRows,
};

/** Further requests to routes, by route and case. */
export const caseRows: Readonly<Record<string, RouteRow>> = {
  "PATCH /v2/game, where another has the account": row(
    409,
    { chatId: "500001", gameId: "1", guildId: oneEachGuild },
    { key: "attackersOneEach" },
  ),
  "GET /verify, which offers to move the link": row(200, ({ oneEachPid: pid }) => ({ pid }), {
    site: "taken",
  }),
};
