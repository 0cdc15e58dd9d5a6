import { useState } from 'preact/hooks';
import { visible, webAddress } from '../rules/safe-text.js';
import { announce } from './toasts.js';

/** A string from data. Hidden characters are shown by their code points. */
export function Text({ of }: { readonly of: string | number | null | undefined }) {
  return <bdi>{visible(String(of ?? ''))}</bdi>;
}

/** A namespace beside a name, unless it is the default one. */
export function OtherNamespace({ of }: { readonly of: string }) {
  return of === 'default' ? null : (
    <small>
      <Text of={of} />
    </small>
  );
}

/** The first part of a long string, the rest on demand. */
export function LongText({ of, first = 16_384 }: { readonly of: string; readonly first?: number }) {
  const [isWhole, setWhole] = useState(false);
  if (of.length <= first || isWhole) return <Text of={of} />;
  return (
    <>
      <Text of={of.slice(0, first)} />
      <p>
        <button type="button" onClick={() => setWhole(true)}>
          Show all {of.length.toLocaleString('en')} characters
        </button>
      </p>
    </>
  );
}

/** A string from data that may be the address of a web page: then a link that says where it leads. */
export function DataLink({ of, label = of }: { readonly of: string; readonly label?: string }) {
  const url = webAddress(of);
  if (url === undefined) return <Text of={label} />;
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer">
      <Text of={label} /> <small>({url.host})</small>
    </a>
  );
}

interface CopyProps {
  /** The whole value that is copied; a long one is made when it is wanted. */
  readonly value: string | (() => string);
  /** What it is, for the name of the button. */
  readonly what: string;
  /** Shown on the button; a sign when absent. */
  readonly label?: string;
}

export function Copy({ value, what, label }: CopyProps) {
  const copy = async (): Promise<void> => {
    announce(
      (await copied(typeof value === 'string' ? value : value())) ? `Copied: ${what}` : `${what} could not be copied`,
    );
  };
  return (
    <button
      type="button"
      class={label === undefined ? 'copy quiet' : ''}
      title={`Copy ${what}`}
      aria-label={label === undefined ? `Copy ${what}` : undefined}
      onClick={() => void copy()}
    >
      {label ?? (
        <svg
          viewBox="0 0 16 16"
          width="14"
          height="14"
          fill="none"
          stroke="currentColor"
          stroke-width="1.5"
          aria-hidden="true"
        >
          <path d="M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3" />
        </svg>
      )}
    </button>
  );
}

/** The clipboard interface needs a secure context; without it the older command copies a selection. */
async function copied(value: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = value;
    area.readOnly = true;
    area.className = 'sr';
    const owner = document.querySelector('dialog[open]') ?? document.body;
    const focused = document.activeElement;
    owner.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return done;
  }
}

/** A UUID by its first part; copying gives the whole. */
export function Id({ of, what = 'ID' }: { readonly of: string; readonly what?: string }) {
  return (
    <span class="id" title={of}>
      <Text of={/^[\da-f]{8}-/.test(of) ? of.slice(0, 8) : of} />
      <Copy value={of} what={what} />
    </span>
  );
}
