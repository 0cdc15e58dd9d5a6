import type { ResultAsync } from 'neverthrow';

interface PageAnswer<T> {
  readonly value: { readonly items: readonly T[]; readonly nextToken: string };
}

/** The names of the items of every page of a list, beginning with the page that `ask` returns without a token. */
export async function pagesOf<T>(
  ask: (page: { readonly nextToken?: string }) => ResultAsync<PageAnswer<T>, unknown>,
  nameOf: (item: T) => string,
): Promise<readonly string[][]> {
  const pages: string[][] = [];
  for (let page: { readonly nextToken?: string } = {}; ; ) {
    const { items, nextToken } = (await ask(page))._unsafeUnwrap().value;
    pages.push(items.map(nameOf));
    if (nextToken === '') return pages;
    page = { nextToken };
  }
}
