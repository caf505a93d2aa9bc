import { startPage } from './start.tsx';
import { dataInPage } from './state/host.ts';

startPage(dataInPage);
