/**
 * Where the platforms are, unless told otherwise.
 */

/** Discord's API, with the version that the schemas here are of. */
export const discordApi = "https://discord.com/api/v10";

/** Roblox has a host for each of its services. */
export const robloxApi = "https://{service}.roblox.com";

/** The services of Roblox that are asked. */
export type RobloxService = "users" | "thumbnails" | "groups" | "accountinformation" | "apis";

/**
 * The address of a service of Roblox.
 *
 * @param apiUrl an address with `{service}` where the service's name belongs
 */
export const robloxService = (apiUrl: string, service: RobloxService): string =>
  apiUrl.replace("{service}", service);
