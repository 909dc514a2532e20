import type { Storage } from "./mod.ts";
import { errorsApiSuite } from "./test_errors_api.ts";
import { fetchSuite } from "./test_fetch.ts";
import { keysApiSuite } from "./test_keys_api.ts";
import { linksApiSuite } from "./test_links_api.ts";
import { makeService } from "./test_service.ts";
import { sessionsApiSuite } from "./test_sessions_api.ts";

/**
 * Tests the whole promise API on one storage.
 *
 * @param storage makes the storage of one process
 * @param shares whether several processes can use the storage at once
 */
export const promiseApiSuite = (storage: () => Storage, { shares }: { readonly shares: boolean }): void => {
  const service = makeService(storage, shares);
  linksApiSuite(service);
  keysApiSuite(service);
  sessionsApiSuite(service);
  fetchSuite(service, { shares });
  errorsApiSuite(service);
};
