import { err, ok, type Result } from 'neverthrow';
import { frameAncestor, href, label, type PageOptions } from '../../http-server/edge/page.js';
import { optional } from '../commands/option-values.js';
import { flagKind, type Kind, listKind, type Misfit, textKind, textOf } from './kind.js';
import type { Setting } from './setting.js';

const link = textKind(
  'takes LABEL=ADDRESS, such as Runbook=https://wiki.example.org/runbook, with an http(s) URL or a path that begins with one slash',
  (text) => {
    const { label: name, href: address } = linkFrom(text);
    return label.fits(name) && href.fits(address) ? text : undefined;
  },
);

function linkFrom(text: string): { readonly label: string; readonly href: string } {
  const [name = '', ...rest] = text.split('=');
  return { label: name.trim(), href: rest.join('=').trim() };
}

/** The kind for lists with at most 20 values. */
function atMostTwenty(kind: Kind): Kind {
  const bounded = (read: Result<unknown, Misfit>): Result<unknown, Misfit> =>
    read.andThen((value) => (Array.isArray(value) && value.length > 20 ? err({ pointer: '' }) : ok(value)));
  return {
    ...kind,
    takes: `${kind.takes}; at most 20`,
    fromText: (text) => bounded(kind.fromText(text)),
    fromJson: (json) => bounded(kind.fromJson(json)),
    schema: { ...kind.schema, maxItems: 20 },
  };
}

/** Settings of the web page. */
export const pageSettings: readonly Setting[] = [
  { key: 'page', kind: flagKind, default: true, summary: 'serve the web page at /ui/' },
  { key: 'pageTitle', flag: 'page-title', kind: textOf(label), summary: 'name of this installation on the web page' },
  {
    key: 'pageLinks',
    flag: 'page-link',
    kind: atMostTwenty(listKind(link)),
    default: [],
    summary: 'links to your own pages on the web page: LABEL=ADDRESS',
  },
  {
    key: 'pageFrameAncestors',
    flag: 'page-frame-ancestor',
    kind: atMostTwenty(listKind(textOf(frameAncestor))),
    default: [],
    summary:
      "origins whose pages may show the web page in a frame and hand tokens to the portal: self, or http(s) origins; nobody's when empty",
  },
];

/** Settings that have no effect without the page. */
export const needPage = ['pageTitle', 'pageLinks', 'pageFrameAncestors'] as const;

/** `read` returns the effective value. False: no page. */
export function pageOptionsFrom(read: <T>(key: string) => T): boolean | PageOptions {
  const title = read<string | undefined>('pageTitle');
  const links = read<readonly string[]>('pageLinks').map(linkFrom);
  const frameAncestors = read<readonly string[]>('pageFrameAncestors');
  if (!read<boolean>('page')) return false;
  if (title === undefined && links.length === 0 && frameAncestors.length === 0) return true;
  return { ...optional('title', title), links, frameAncestors };
}
