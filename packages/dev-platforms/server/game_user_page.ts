/** The page of a game user: the profile, and a form that changes its description. */
import { html } from "@accountlink/pages/html";
import { Effect, Schema } from "effect";
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http";
import { makePages } from "../oauth/sign_in_page.ts";
import { platformRoute, type Simulation } from "../simulation.ts";

/** The longest description that the game platform accepts. */
const longest = 1_000;

/** GET shows the profile; POST to the same URL changes its description. */
export const gameUserPage = Effect.fnUntraced(function* (simulation: Simulation) {
  const { gameUsers } = simulation.platforms;
  const pages = yield* makePages("game");

  const user = Effect.flatMap(HttpRouter.params, ({ gameId = "" }) => {
    const found = gameUsers.get(gameId);
    return found === undefined ? Effect.fail(pages.missing("There is no such user.")) : Effect.succeed(found);
  });

  const show = Effect.map(user, ({ id, username, displayName, description }) =>
    pages.own(
      displayName ?? username ?? id,
      html`<p>${username === null ? null : html`@${username} · `}${id}</p>
<form method="post">
<p><label for="description">About</label></p>
<p class="line"><textarea id="description" name="description" rows="6" maxlength="${longest}">${description ?? ""}</textarea></p>
<p class="line"><button>Save</button></p>
</form>`,
    ),
  );

  const change = Effect.gen(function* () {
    const { id } = yield* user;
    const { description } = yield* HttpServerRequest.schemaBodyUrlParams(Change).pipe(
      Effect.mapError(() => pages.problem(`The form has no "description" of up to ${longest} characters.`)),
    );
    // Reads the user again, since another request may have changed the user while the form was read.
    gameUsers.set(id, { ...(yield* user), description });
    return HttpServerResponse.redirect(`/game/users/${id}`, { status: 303 });
  });

  const path = "/game/users/:gameId";
  return [platformRoute(simulation, "GET", path, show), platformRoute(simulation, "POST", path, change)];
});

const Change = Schema.Struct({ description: Schema.String.check(Schema.isMaxLength(longest)) });
