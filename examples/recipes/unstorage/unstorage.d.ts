/** What this program uses of unstorage. */
export interface Driver {
  readonly hasItem: (key: string) => Promise<boolean>;
  readonly getItem: (key: string) => Promise<string | null>;
  readonly setItem: (key: string, value: string) => Promise<void>;
  readonly removeItem: (key: string) => Promise<void>;
  readonly getKeys: () => Promise<Array<string>>;
}

export interface Storage<T> {
  getItem(key: string): Promise<T | null>;
  setItem(key: string, value: T): Promise<void>;
  removeItem(key: string): Promise<void>;
  getKeys(): Promise<Array<string>>;
  dispose(): Promise<void>;
}

export function createStorage<T>(options: { readonly driver: Driver }): Storage<T>;

export function defineDriver<Options>(make: (options: Options) => Driver): (options: Options) => Driver;
