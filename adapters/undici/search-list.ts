import { readFileSync } from 'node:fs';

/** How a name that may be relative is looked up. */
export interface SearchList {
  readonly domains: readonly string[];
  /** A name with at least this many dots is tried as an absolute name first. */
  readonly dots: number;
}

const none: SearchList = { domains: [], dots: 1 };
const mostDomains = 6;

/** From the host's resolver configuration; nothing is searched when it cannot be read. */
export function hostSearchList(path = '/etc/resolv.conf'): SearchList {
  try {
    return searchListFrom(readFileSync(path, 'utf8'));
  } catch {
    return none;
  }
}

/** The last `search` or `domain` line counts, and `options ndots:N`. */
export function searchListFrom(text: string): SearchList {
  let { domains, dots } = none;
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'search' || keyword === 'domain') domains = values.slice(0, mostDomains);
    if (keyword !== 'options') continue;
    for (const option of values) {
      const given = /^ndots:(\d{1,2})$/.exec(option);
      if (given !== null) dots = Math.min(Number(given[1]), 15);
    }
  }
  return { domains, dots };
}

/** The absolute names to query, in order. */
export function candidatesFor(name: string, { domains, dots }: SearchList): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const searched = domains.map((domain) => `${name}.${domain}`.replace(/(?<!\.)\.+$/, ''));
  const given = name.split('.').length - 1;
  return given >= dots ? [name, ...searched] : [...searched, name];
}
