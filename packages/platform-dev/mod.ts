/**
 * Both platforms, faked over real HTTP from a fixture, and the adapter that asks them as it would ask real ones.
 *
 * `devPlatform` is the server. Its routes answer JSON; a refusal is `{ "code": "unknown_member" }` with a status.
 *
 * | route | answers | 404 codes |
 * |---|---|---|
 * | GET /chat/api/bot/guilds | `{ guilds: [{ id }] }`, those that the bot is in | |
 * | GET /chat/api/guilds/{guildId} | `{ id }` | `unknown_guild`: the bot is not in it |
 * | GET /chat/api/guilds/{guildId}/members | `{ members: [member] }` | `unknown_guild` |
 * | GET /chat/api/guilds/{guildId}/members/{chatId} | a member | `unknown_guild`, `unknown_member`, `unknown_user` |
 * | GET /chat/api/users/{chatId} | a chat user | `unknown_user` |
 * | GET /game/api/users/{gameId} | `{ id, username, displayName }` | `unknown_user` |
 * | GET /game/api/users/{gameId}/profile | a game profile: avatars, badges, groups | `unknown_user` |
 *
 * The routes under /chat need the bot's bearer token. The following are for tests and need none:
 *
 * | route | what |
 * |---|---|
 * | PUT, GET, DELETE /faults | sets, shows and clears faults, see `Fault`: `{ "platform": "chat", "mode": "slow", "delayMs": 3000, "times": 2 }` |
 * | GET, DELETE /requests | how often each route was asked, and the most at once; starts anew |
 * | PUT /control/guilds/{guildId} | `{ "bot": false }`: the bot leaves, or comes back |
 * | PUT, DELETE /control/guilds/{guildId}/members/{chatId} | a member joins or is changed (`nickname`, `joined`, `roles`, all of which may be left out), or leaves |
 *
 * `devChatPlatform` and `devGamePlatform` are the ports of `@accountlink/core`, asked of such a server.
 */
export * from "./chat_platform.ts";
export * from "./fault.ts";
export * from "./game_platform.ts";
export * from "./server.ts";
