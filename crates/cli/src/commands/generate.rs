use crate::arguments::Generate;
use crate::failure::Failure;
use crate::project::Project;
use crate::terminal::Terminal;

pub fn generate(_arguments: &Generate, _terminal: &Terminal) -> Result<(), Failure> {
    Ok(())
}
pub fn sweep(_project: &Project, _arguments: &Generate, _terminal: &Terminal) -> Result<(), Failure> {
    Ok(())
}
