/** Answers commands that members and managers type in chat. @internal */
export { listings } from "./answers.ts";
export { chatRoutes, interactionsPath } from "./chat_routes.ts";
export { ChatSettings, type ChatSettingsShape } from "./chat_settings.ts";
export { longestPanelText } from "./commands/panel.ts";
export { makeCommunity } from "./community.ts";
export { commandBodies } from "./installation.ts";
