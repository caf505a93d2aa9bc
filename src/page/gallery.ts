import { openGallery } from './gallery/open.ts';
import { startPage } from './start.tsx';

startPage(openGallery);
