/**
 * A server that simulates both platforms from a fixture, and an adapter that asks it over HTTP.
 *
 * `devPlatform` is the server. The routes under `/chat/api` and `/game/api` answer in JSON, which `wire.ts` describes; a
 * refusal is `{ "code": "unknown_member" }` with a status. The routes for the bot need its bearer token.
 *
 * `/chat/guilds/{guildId}` is a page that plays the channel of a guild: choose a member, type a command, press a button,
 * let a user of the fixture join or leave.
 *
 * `/game/users/{gameId}` is the page of a game user: the profile, and a form with the field `description` to change it.
 *
 * `/game/play/{gameId}` is a game that knows its player: it shows a code with which the player links a chat account.
 *
 * Users sign in at both platforms by the authorization code flow of OAuth 2.0 with PKCE (S256).
 *
 * | route | answers |
 * |---|---|
 * | GET /chat/oauth/authorize, GET /game/oauth/authorize | a page with a button for each user of the fixture |
 * | POST to the same address, with its query | 302 to `redirect_uri`: with the form field `user` (an ID) a `code`, good once; with `deny=1` an error. 400 for an unknown user |
 * | GET /chat/as/{chatId}/dashboard, GET /chat/as/{chatId}/me | 302 to the sign-in of the service, which the browser then makes as this user without a page |
 * | POST /chat/oauth/token, POST /game/oauth/token | an access token. The client sends its secret in the form |
 * | GET /chat/api/users/@me, GET /game/api/users/@me | the user of the access token |
 * | GET /chat/api/users/@me/guilds | `{ guilds: [{ id, name, manager }] }` of the same user |
 * | GET /chat/api/users/@me/connections | `{ connections: [{ gameId, verified }] }` of the same user, for a token with the scope `connections`, which a form with `refuse=connections` does not grant |
 *
 * Whoever can reach the pages can sign in as anyone. Redirect URIs still have to be registered, see
 * `RegisteredClient`, and an unknown client gets an error page, never a redirect.
 *
 * `devChatPlatform`, `devGamePlatform`, `devChatIdentity` and `devGameIdentity` are the ports of `@accountlink/core`
 * on such a server.
 *
 * @internal
 */

export * from "./chat_platform.ts";
export * from "./game_platform.ts";
export * from "./identities.ts";
export * from "./server/server.ts";
