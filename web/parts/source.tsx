import type { RefObject } from 'preact';
import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { piecesOf } from '../rules/hcl-tokens.js';
import { visible } from '../rules/safe-text.js';
import type { EditorHandle, SourceProblem } from './editor.js';

/** Characters of a source that are shown at first. */
const mostAtFirst = 65_536;

/** A source to read, in colours; a long one on demand. */
export function Highlighted({ source }: { readonly source: string }) {
  const [isWhole, setWhole] = useState(false);
  const isCut = source.length > mostAtFirst && !isWhole;
  return (
    <>
      <bdi>
        {piecesOf(isCut ? source.slice(0, mostAtFirst) : source).map(({ kind, text }, at) =>
          kind === undefined ? (
            visible(text)
          ) : (
            <span key={at} class={`hcl-${kind}`}>
              {visible(text)}
            </span>
          ),
        )}
      </bdi>
      {isCut && (
        <p>
          <button type="button" onClick={() => setWhole(true)}>
            Show all {source.length.toLocaleString('en')} characters
          </button>
        </p>
      )}
    </>
  );
}

const help =
  'Ctrl Enter plans. Tab indents; Escape leaves the editor. F8 goes to the next problem, F9 uses its suggestion.';

export interface SourceFieldHandle {
  /** Puts the cursor at a place of the source, which begins at line 1 and column 1. */
  readonly select: (line: number, column: number) => void;
}

interface SourceFieldProps<P extends SourceProblem> {
  readonly handle: RefObject<SourceFieldHandle | null>;
  readonly text: string;
  readonly label: string;
  readonly problems: readonly P[];
  /** The element that lists the problems. */
  readonly describedBy: string;
  readonly changed: (text: string) => void;
  readonly plan: () => void;
  readonly fix: (problem: P) => void;
}

/** A field for a source: a plain one at first, an editor as soon as that is loaded. Without it the plain one stays. */
export function SourceField<P extends SourceProblem>(props: SourceFieldProps<P>) {
  const { text, label, problems, describedBy, changed } = props;
  const host = useRef<HTMLDivElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const editor = useRef<EditorHandle<P> | undefined>(undefined);
  const [isLoaded, setLoaded] = useState(false);
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    let isShown = true;
    const open = async (): Promise<void> => {
      const { openEditor } = await import('./editor.js');
      if (!isShown || host.current === null) return;
      const element = host.current;
      editor.current = openEditor<P>(element, {
        text: area.current?.value ?? latest.current.text,
        label,
        help,
        changed: (written) => latest.current.changed(written),
        plan: () => latest.current.plan(),
        leave: () => focusAfter(element),
        fix: (problem) => latest.current.fix(problem),
      });
      editor.current.setProblems(latest.current.problems);
      if (document.activeElement === area.current) editor.current.focusAt(area.current?.selectionStart ?? 0);
      setLoaded(true);
    };
    open().catch(() => undefined);
    return () => {
      isShown = false;
      editor.current?.destroy();
    };
  }, []);
  // Before the next key: a late one would take back what was written meanwhile.
  useLayoutEffect(() => editor.current?.setText(text), [text, isLoaded]);
  useEffect(() => editor.current?.setProblems(problems), [problems, isLoaded]);
  useImperativeHandle(
    props.handle,
    () => ({
      select: (line, column) => {
        if (editor.current !== undefined) return editor.current.select(line, column);
        const at = offsetOf(latest.current.text, line, column);
        area.current?.focus();
        area.current?.setSelectionRange(at, at);
      },
    }),
    [],
  );
  return (
    <>
      {!isLoaded && (
        <textarea
          ref={area}
          aria-label={label}
          aria-describedby={describedBy}
          aria-invalid={problems.length > 0}
          spellcheck={false}
          autocapitalize="off"
          value={text}
          onInput={(event) => changed(event.currentTarget.value)}
        />
      )}
      <div ref={host} />
      {isLoaded && <p class="hint">{help}</p>}
    </>
  );
}

/** Focuses the next control of the page. */
function focusAfter(element: HTMLElement): void {
  const controls = document.querySelectorAll<HTMLElement>(
    'a[href], button:not(:disabled), input, select, textarea, summary',
  );
  const isAfter = (control: HTMLElement): boolean =>
    (element.compareDocumentPosition(control) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0 && control.checkVisibility();
  [...controls].find(isAfter)?.focus();
}

/** Position in the text of a place, whose line and column begin at 1. */
export function offsetOf(text: string, line: number, column: number): number {
  const lines = text.split('\n').slice(0, line - 1);
  return lines.reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
}
