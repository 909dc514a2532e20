/** Answers commands that members and managers type in chat. @internal */
export { chatRoutes, interactionsPath } from "./chat_routes.ts";
export { ChatSettings, type ChatSettingsShape } from "./chat_settings.ts";
export { makeCommunity } from "./community.ts";
export { commandBodies } from "./installation.ts";
export { listings } from "./listings.ts";
export { LogCouriers } from "./log_couriers.ts";
export { longestPanelText, makePostPanel } from "./panel.ts";
export { layerPlanNotices } from "./plan_notices.ts";
export { layerReminders, layerRemindersIn } from "./reminders.ts";
