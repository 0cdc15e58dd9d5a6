import type { Handler } from 'signalbox/functions';

const resize: Handler<{ file: string }, string> = ({ file }) => `small ${file}`;
export default resize;
