/** Network intelligence from files: VPN addresses, and addresses that unrelated users share. */
export * as NetworkFiles from "./network_files.ts";
