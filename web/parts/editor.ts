import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  StreamLanguage,
  syntaxHighlighting,
} from '@codemirror/language';
import { type Diagnostic, lintGutter, nextDiagnostic, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Text } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { atStart, depthOf, type HclState, nextToken } from '../rules/hcl-tokens.js';
import { visible } from '../rules/safe-text.js';

/*
 * The editor of sources, which is loaded where one writes. It lives in a shadow root: there its styles are constructed sheets, which
 * the policy of the page allows; the variables of the page's colours are inherited.
 */

/** What is wrong at a place of the source. Lines and columns begin at 1, columns in UTF-16 units. */
export interface SourceProblem {
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
  readonly end?: { readonly line: number; readonly column: number };
  readonly suggestion?: string;
}

interface EditorOptions<P extends SourceProblem> {
  readonly text: string;
  readonly label: string;
  /** Said to screen readers with the label. */
  readonly help: string;
  readonly changed: (text: string) => void;
  /** Ctrl Enter. */
  readonly plan: () => void;
  /** Escape, when it closes nothing within the editor. */
  readonly leave: () => void;
  /** Replaces what a problem is about by its suggestion. */
  readonly fix: (problem: P) => void;
}

export interface EditorHandle<P extends SourceProblem> {
  /** Shows another text with the smallest change, so that the cursor stays and the change can be undone. */
  setText(text: string): void;
  setProblems(problems: readonly P[]): void;
  /** Puts the cursor at a place and focuses. */
  select(line: number, column: number): void;
  /** Puts the cursor at an offset and focuses. */
  focusAt(offset: number): void;
  destroy(): void;
}

interface Position {
  state: HclState;
}

const hcl = StreamLanguage.define<Position>({
  name: 'hcl',
  startState: () => ({ state: atStart }),
  copyState: ({ state }) => ({ state }),
  token: (stream, position) => {
    const { end, kind, state } = nextToken(stream.string, stream.pos, position.state);
    stream.pos = end;
    position.state = state;
    return kind ?? null;
  },
  indent: ({ state }, textAfter, { unit }) => {
    const depth = depthOf(state);
    return depth === undefined ? null : Math.max(0, depth - (/^\s*[}\])]/.test(textAfter) ? 1 : 0)) * unit;
  },
  languageData: { commentTokens: { line: '#' }, indentOnInput: /^\s*[}\])]$/ },
  tokenTable: {
    comment: tags.comment,
    string: tags.string,
    number: tags.number,
    literal: tags.bool,
    block: tags.keyword,
    attribute: tags.propertyName,
    call: tags.function(tags.variableName),
    operator: tags.operator,
    bracket: tags.bracket,
  },
});

const colours = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--secondary)', fontStyle: 'italic' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.number, tags.bool], color: 'var(--lost)' },
  { tag: tags.keyword, color: 'var(--running)', fontWeight: '600' },
  { tag: tags.propertyName, color: 'var(--text)' },
  { tag: tags.function(tags.variableName), color: 'var(--waiting)' },
]);

/**
 * Typed text is inserted here and not by the browser: that would keep the look of what it replaces in style attributes, which the
 * policy of the page refuses.
 */
const typing = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { data, inputType } = event;
    if (inputType !== 'insertText' || data === null || view.composing) return false;
    event.preventDefault();
    const [range] = event.getTargetRanges();
    const own = { userEvent: 'input.type', scrollIntoView: true };
    if (range === undefined || view.state.selection.ranges.length > 1) {
      view.dispatch(view.state.replaceSelection(data), own);
      return true;
    }
    // What the browser would replace: the editor learns of a new selection later, and some keyboards replace what stands before the cursor.
    const from = view.posAtDOM(range.startContainer, range.startOffset);
    const to = view.posAtDOM(range.endContainer, range.endOffset);
    view.dispatch({ changes: { from, to, insert: data }, selection: { anchor: from + data.length }, ...own });
    return true;
  },
});

const control = {
  border: '1px solid var(--edge)',
  borderRadius: '4px',
  background: 'var(--surface)',
  color: 'var(--text)',
  font: 'inherit',
  minHeight: '24px',
  padding: '1px 8px',
};

const theme = EditorView.theme({
  '&': {
    height: '60vh',
    border: '1px solid var(--edge)',
    borderRadius: '4px',
    background: 'var(--surface)',
    color: 'var(--text)',
    fontSize: '12.5px',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { background: 'var(--raised)', color: 'var(--secondary)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--selected) 50%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'color-mix(in srgb, var(--accent) 30%, transparent)',
  },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { background: 'none', outline: '1px solid var(--edge)' },
  '.cm-selectionMatch, .cm-searchMatch': { backgroundColor: 'light-dark(#ffe58a, #6a5300)' },
  '.cm-searchMatch-selected': { outline: '2px solid var(--accent)' },
  '.cm-specialChar': { color: 'var(--failed)' },
  '.cm-panels': { background: 'var(--raised)', color: 'var(--text)', fontFamily: 'system-ui, sans-serif' },
  '.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-panel.cm-search': { fontSize: '13px' },
  '.cm-textfield, .cm-button, .cm-tooltip .cm-diagnosticAction': { ...control, backgroundImage: 'none' },
  '.cm-panel.cm-search [name=close]': { color: 'inherit', minWidth: '24px', minHeight: '24px' },
  '.cm-tooltip': { background: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--edge)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--failed-fill)' },
});

/** For what only screen readers get. */
const hidden =
  ':host { display: block } .sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }';

/** Fills an empty element, which has no shadow root yet, with an editor. */
export function openEditor<P extends SourceProblem>(host: HTMLElement, options: EditorOptions<P>): EditorHandle<P> {
  const root = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(hidden);
  root.adoptedStyleSheets = [sheet];
  const description = document.createElement('p');
  description.id = 'description';
  description.className = 'sr';
  description.textContent = options.help;
  root.append(description);

  let known = options.text;
  let problems: readonly P[] = [];
  const validity = new Compartment();
  const isInvalid = (is: boolean) => EditorView.contentAttributes.of({ 'aria-invalid': String(is) });
  const run = (action: () => void) => (): boolean => {
    action();
    return true;
  };
  /** The suggestion at the cursor, or the first one. */
  const fixNext = ({ state }: EditorView): boolean => {
    const fixable = problems.filter(({ suggestion }) => suggestion !== undefined);
    const { number } = state.doc.lineAt(state.selection.main.head);
    const chosen = fixable.find(({ line }) => line === number) ?? fixable[0];
    if (chosen !== undefined) options.fix(chosen);
    return true;
  };
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        keymap.of([
          { key: 'Mod-Enter', run: run(options.plan) },
          { key: 'Ctrl-Enter', run: run(options.plan) },
          { key: 'F8', run: nextDiagnostic },
          { key: 'F9', run: fixNext },
        ]),
        lineNumbers(),
        lintGutter(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        highlightSpecialChars(),
        history(),
        drawSelection(),
        indentUnit.of('  '),
        EditorState.tabSize.of(2),
        indentOnInput(),
        bracketMatching(),
        search({ top: true }),
        highlightSelectionMatches(),
        hcl,
        syntaxHighlighting(colours),
        theme,
        typing,
        keymap.of([
          ...searchKeymap,
          ...historyKeymap,
          indentWithTab,
          ...defaultKeymap,
          { key: 'Escape', run: run(options.leave) },
        ]),
        EditorView.contentAttributes.of({
          'aria-label': options.label,
          'aria-describedby': description.id,
          autocapitalize: 'off',
          tabindex: '0',
        }),
        validity.of(isInvalid(false)),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (!docChanged) return;
          const text = state.doc.toString();
          if (text === known) return;
          known = text;
          options.changed(text);
        }),
      ],
    }),
  });

  return {
    setText(text) {
      if (text === known) return;
      known = text;
      const next = text.replaceAll(/\r\n?/g, '\n');
      view.dispatch({ changes: smallestChange(view.state.doc.toString(), next) });
    },
    setProblems(found) {
      problems = found;
      const { doc } = view.state;
      view.dispatch(
        setDiagnostics(
          view.state,
          found.flatMap((problem) => markOf(doc, problem, options.fix)),
        ),
        { effects: validity.reconfigure(isInvalid(found.length > 0)) },
      );
      description.textContent = [
        options.help,
        ...found.map(({ line, message }) => (line === undefined ? message : `Line ${line}: ${visible(message)}`)),
      ].join(' ');
    },
    select(line, column) {
      const anchor = offsetIn(view.state.doc, line, column);
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) });
      view.focus();
    },
    focusAt(offset) {
      view.dispatch({ selection: { anchor: Math.min(offset, view.state.doc.length) }, scrollIntoView: true });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}

function offsetIn(doc: Text, line: number, column: number): number {
  const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines));
  return Math.min(from + Math.max(0, column - 1), to);
}

/** The mark of a problem, with its suggestion as an action; none for a problem of the job as a whole. */
function markOf<P extends SourceProblem>(doc: Text, problem: P, fix: (problem: P) => void): readonly Diagnostic[] {
  const { message, line, column = 1, end, suggestion } = problem;
  if (line === undefined) return [];
  const from = offsetIn(doc, line, column);
  const to = Math.max(from, end === undefined ? from : offsetIn(doc, end.line, end.column));
  const actions =
    suggestion === undefined ? [] : [{ name: `Use “${visible(suggestion)}” (F9)`, apply: () => fix(problem) }];
  return [{ from, to, severity: 'error', message: visible(message), actions }];
}

function smallestChange(before: string, after: string): { from: number; to: number; insert: string } {
  const shorter = Math.min(before.length, after.length);
  let from = 0;
  while (from < shorter && before[from] === after[from]) from += 1;
  let same = 0;
  while (same < shorter - from && before.at(-1 - same) === after.at(-1 - same)) same += 1;
  return { from, to: before.length - same, insert: after.slice(from, after.length - same) };
}
