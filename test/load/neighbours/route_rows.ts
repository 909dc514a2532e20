/** The dearest request to each route, which the test of neighbours sends as often as it can. */
import { apiRows, dashboardRows } from "./api_rows.ts";
import { flowRows, pageRows } from "./page_rows.ts";
import type { RouteRow } from "./row.ts";

export const routeRows: Readonly<Record<string, RouteRow>> = {
  ...apiRows,
  ...dashboardRows,
  ...flowRows,
  ...pageRows,
};
