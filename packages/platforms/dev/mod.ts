/**
 * A server that simulates both platforms from a fixture, and an adapter that asks it over HTTP.
 *
 * `devPlatform` is the server. Its routes answer JSON; a refusal is `{ "code": "unknown_member" }` with a status.
 *
 * | route | answers | 404 codes |
 * |---|---|---|
 * | GET /chat/api/bot/guilds | `{ guilds: [{ id, name }] }`, those that the bot is in | |
 * | GET /chat/api/guilds/{guildId} | `{ id, name }` | `unknown_guild`: the bot is not in it |
 * | GET /chat/api/guilds/{guildId}/roles | `{ roles: [{ id, name, assignable }], memberCount }` | `unknown_guild` |
 * | GET /chat/api/guilds/{guildId}/members?after= | `{ members: [member] }`, 1,000 by ID | `unknown_guild` |
 * | GET /chat/api/guilds/{guildId}/members/{chatId} | a member | `unknown_guild`, `unknown_member`, `unknown_user` |
 * | PATCH /chat/api/guilds/{guildId}/members/{chatId} | 204: sets `{ "nickname" }`; 403 `member_above_bot` | the same |
 * | PUT, DELETE /chat/api/guilds/{guildId}/members/{chatId}/roles/{roleId} | 204; 403 `role_above_bot` | the same, `role_missing` |
 * | GET /chat/api/users/{chatId} | a chat user | `unknown_user` |
 * | GET /game/api/users/{gameId} | `{ id, username, displayName }` | `unknown_user` |
 * | GET /game/api/users/{gameId}/profile | a game profile: avatars, badges, groups | `unknown_user` |
 * | GET /game/api/users/{gameId}/items/{item}/{itemId} | `{ owned }` | `unknown_user` |
 * | GET /game/api/items/{item}/{itemId} | `{ name }` of an item that a user has | `unknown_item` |
 * | GET /game/api/groups/{groupId} | `{ id, name, memberCount, ranks: [{ rank, name }] }` | `unknown_group` |
 * | GET /game/api/groups/{groupId}/users?cursor= | `{ members: [{ gameId, role }], next }`, 100 on a page | |
 *
 * | GET /chat/api/application | `{ id, publicKey }`: the key that signs commands | |
 * | PATCH /chat/api/webhooks/{applicationId}/{token}/messages/@original | 204: edits the answer to a command | `unknown_message` |
 *
 * `/chat/guilds/{guildId}` is a page that plays the channel of a guild: choose a member, type a command, press a button.
 *
 * The routes under /chat/api for guilds and users need the bot's bearer token. Users sign in at both platforms by the
 * authorization code flow of OAuth 2.0 with PKCE (S256).
 *
 * | route | answers |
 * |---|---|
 * | GET /chat/oauth/authorize, GET /game/oauth/authorize | a page with a button for each user of the fixture |
 * | POST to the same address, with its query | 302 to `redirect_uri`: with the form field `user` (an ID) a `code`, good once; with `deny=1` an error. 400 for an unknown user |
 * | GET /chat/as/{chatId}/dashboard, GET /chat/as/{chatId}/me | 302 to the sign-in of the service, which the browser then makes as this user without a page |
 * | POST /chat/oauth/token, POST /game/oauth/token | an access token. The client sends its secret in the form |
 * | GET /chat/api/users/@me, GET /game/api/users/@me | the user of the access token |
 * | GET /chat/api/users/@me/guilds | `{ guilds: [{ id, name, manager }] }` of the same user |
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
