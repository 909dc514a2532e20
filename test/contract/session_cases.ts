import { type Case, type Writer, when } from "./case_writer.ts";

/** What routes say that are about one session. */
export const sessionRefusals = (route: Writer): ReadonlyArray<Case> =>
  when(
    route.recipe.hasSession === true,
    route.row("404 SESSION_NOT_FOUND", "a sid of nobody", route.says(null, "Verification session not found")),
    route.row(
      "410 SESSION_EXPIRED",
      "a session over time",
      route.says(null, "Verification session expired"),
      {
        session: "expired",
        surroundings: "sessions short",
      },
    ),
    ...when(
      route.route === "cancelSession",
      route.row(
        "409 CONFLICT",
        "a session that is final",
        { reason: "session_cancelled" },
        { session: "cancelled" },
      ),
    ),
  );
