/** Roblox has a host for each service. */
export const robloxApi = "https://{service}.roblox.com";

export type RobloxService =
  | "users"
  | "thumbnails"
  | "groups"
  | "accountinformation"
  | "inventory"
  | "badges"
  | "economy"
  | "apis";

/**
 * The base URL of a service.
 *
 * @param apiUrl a URL with `{service}` in place of the service's name
 */
export const robloxService = (apiUrl: string, service: RobloxService): string =>
  apiUrl.replace("{service}", service);
