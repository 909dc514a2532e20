/** The simulated page where an owner adds the bot to a guild. */
import { html } from "@accountlink/pages/html";
import { Effect, Schema } from "effect";
import { HttpServerRequest } from "effect/http";
import type { RegisteredClient } from "../identities.ts";
import { makePages } from "../oauth/sign_in_page.ts";
import { platformRoute, type Simulation } from "../simulation.ts";

/** GET shows all guilds, or only the guild with the ID `guild_id`; POST to the same URL adds the bot. */
export const botInvite = Effect.fnUntraced(function* (
  simulation: Simulation,
  client: RegisteredClient | undefined,
) {
  const { guilds } = simulation.platforms;
  const pages = yield* makePages("chat");
  const dashboard = client?.redirectUris
    .find((uri) => uri.endsWith("/dashboard/callback"))
    ?.replace(/\/callback$/, "");
  const back = dashboard === undefined ? null : html`<p><a href="${dashboard}">Back to the dashboard</a></p>`;

  const show = Effect.map(HttpServerRequest.ParsedSearchParams, ({ guild_id: wanted }) => {
    const offered = [...guilds.values()].filter(({ id }) => wanted === undefined || id === wanted);
    return pages.own(
      "Add the bot",
      html`<p>No community here is real. Choose the one that the bot joins.</p>
<form method="post">
<ul>
${offered.map(
  (guild) =>
    html`<li><button name="guild" value="${guild.id}"><span class="name">${nameOf(guild)}
<small>${guild.hasBot ? "The bot is in it" : guild.id}</small></span></button></li>`,
)}
</ul>
</form>
${back}`,
    );
  });

  const add = Effect.gen(function* () {
    const { guild: id } = yield* HttpServerRequest.schemaBodyUrlParams(Choice).pipe(
      Effect.mapError(() => pages.problem('The form has no "guild".')),
    );
    const guild = guilds.get(id);
    if (guild === undefined) return pages.problem("There is no such community.");
    guild.hasBot = true;
    return pages.own("The bot is added", html`<p>It is now in <strong>${nameOf(guild)}</strong>.</p>${back}`);
  });

  const path = "/chat/bot";
  return [platformRoute(simulation, "GET", path, show), platformRoute(simulation, "POST", path, add)];
});

const nameOf = ({ id, name }: { readonly id: string; readonly name: string | null }) => name ?? id;

const Choice = Schema.Struct({ guild: Schema.String });
