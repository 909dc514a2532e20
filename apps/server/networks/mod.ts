/** Network intelligence from files: VPN addresses, and addresses that strangers share. */
export * as NetworkFiles from "./network_files.ts";
